// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/bound_fields.h"

namespace fourfold {

namespace {
// Generous limits whose products still fit into the types that hold them.
constexpr FieldRange kDegree{1, kMaxGpus};
constexpr FieldRange kBatch{1, kMaxBatch};
constexpr FieldRange kSteps{1, 1'000'000'000}, kStepsOrNone{0, 1'000'000'000};
constexpr FieldRange kLayers{1, 1e6};
constexpr FieldRange kSpeed{0, 1e9, true}, kSpeedOrNone{0, 1e9}, kLatency{0, 1e9};
constexpr FieldRange kSmall{0, 1e6};

// A key whose path in the file is that of its member too.
#define FOURFOLD_MEMBER(path)                                                                                          \
#path, [](auto& root) -> auto&                                                                                     \
    {                                                                                                                  \
        return root.path;                                                                                              \
    }

using PlanKey = BoundField<ResolvedPlan>;

template <typename Get>
PlanKey bound(const char* path, Get get, std::string help, FieldRange range = {})
{
    return bound_field<ResolvedPlan>(path, get, std::move(help), range);
}
// A key that no single member stands behind.
PlanKey key(std::string path, FieldType type, std::string help, FieldRange range = {})
{
    return {{range, std::move(path), type, std::move(help)}};
}
PlanKey required(PlanKey field)
{
    field.required = true;
    return field;
}

// Not written while it has its default: plans of before it was there keep their text and with it their hash.
PlanKey unless_default(PlanKey field)
{
    field.write = [write = field.write](const ResolvedPlan& plan) {
        Json value = write(plan);
        return value == write(ResolvedPlan{}) ? Json() : value;
    };
    return field;
}

// Only selective recomputation has parts; the usual ones are not written, as before there were others.
PlanKey recompute_parts(PlanKey field)
{
    field.write = [write = field.write](const ResolvedPlan& plan) {
        const Json value = write(plan), &defaults = plan.stack.training_defaults;
        const bool usual = value == write(ResolvedPlan{}) && !value_at(defaults, "recompute_parts").is_array();
        return usual || plan.training.recompute != Recompute::selective ? Json() : value;
    };
    return field;
}

// Of the ramp-up, which a plan has or has not.
template <typename T>
PlanKey ramp_up(const char* path, T RampUp::*member, std::string help, FieldRange range)
{
    PlanKey out{{range, path, Codec<T>::kType, std::move(help), true}};
    out.read = [member](const Json& json, ResolvedPlan& plan) {
        std::optional<RampUp>& ramp = plan.training.ramp_up;
        if (!ramp)
            ramp.emplace();
        *ramp.*member = json.get<T>();
    };
    out.write = [member](const ResolvedPlan& plan) {
        return plan.training.ramp_up ? Json(*plan.training.ramp_up.*member) : Json();
    };
    return out;
}

// A word, or the name of a file.
PlanKey schedule()
{
    PlanKey out = key("training.schedule", FieldType::schedule,
        "Pipeline schedule, or a file in PyTorch's pipeline-schedule CSV (*.csv: one row per rank; cells 0F0, 1B3, "
        "2I0, 2W0, SEND_F ...), relative to the plan's file. zb-v and dualpipe-v need virtual_stages 2; a file needs "
        "the plan's ranks, stages and micro-batches.");
    out.choices = spellings<Schedule>();
    out.read = [](const Json& json, ResolvedPlan& plan) {
        const auto text = json.get<std::string>();
        const bool file = text.ends_with(".csv");
        plan.training.schedule = file ? Schedule::csv : *from_text<Schedule>(text, "");
        plan.training.schedule_csv = file ? text : "";
    };
    out.write = [](const ResolvedPlan& plan) { return schedule_name(plan.training); };
    return out;
}

// A list of token files with the keys of its objects.
template <typename Get>
void add_data(std::vector<PlanKey>& out, const char* path, Get get)
{
    PlanKey list = key(path, FieldType::object_list, "Token files.");
    list.read = [get](const Json& json, ResolvedPlan& plan) {
        for (const Json& entry : json)
            read_bound(data_fields(), "", entry, get(plan).emplace_back());
    };
    list.write = [get](const ResolvedPlan& plan) {
        Json json = Json::array();
        for (const DataSource& source : get(plan))
            json.push_back(write_bound(data_fields(), "", source));
        return json;
    };
    out.push_back(std::move(list));
    for (const Field& field : data_fields()) {
        PlanKey member{field};
        member.path = std::string(path) + "[]." + field.path;
        out.push_back(std::move(member));
    }
}

std::vector<PlanKey> head()
{
    return {key("fourfold_plan", FieldType::integer, "Version of this format.", {1, 1}),
        bound(FOURFOLD_MEMBER(name), "For people; not part of the plan's identity."),
        required(key("model", FieldType::id_or_open_object,
            "A model preset's id, or an object with the keys of a Hugging Face config.json (model_type tells the "
            "family).")),
        required(key("cluster", FieldType::id_or_object,
            "A cluster preset's id, or an object. Bandwidths are per GPU and direction in 10^9 bytes/s, latencies in "
            "microseconds."))};
}

// Read and written by core/hardware.
std::vector<PlanKey> cluster()
{
    using enum FieldType;
    PlanKey topology = key("cluster.intra_node.topology", choice,
        "switch: every pair at full speed; pairs: a direct link to each neighbour; torus.");
    topology.choices = spellings<IntraTopology>();
    std::vector<PlanKey> out{key("cluster.id", text, ""), key("cluster.name", text, ""),
        required(key("cluster.gpu", id_or_object, "A GPU preset's id, or an object.")), key("cluster.gpu.id", text, ""),
        key("cluster.gpu.name", text, ""),
        key("cluster.gpu.generation", text,
            "Of the chip: volta, ampere, hopper, blackwell, cdna3 ... Kernels and their rates go by it."),
        required(
            key("cluster.gpu.memory_gib", number, "Memory that a program can use, GiB (2^30 bytes).", {0, 1e6, true})),
        required(key("cluster.gpu.memory_bandwidth_gb_s", number, "10^9 bytes/s.", kSpeed)),
        required(key(
            "cluster.gpu.peak_tflops", object, "Dense peaks, 10^12 FLOP/s; null or absent where the GPU has none."))};
    for (const char* precision : {"bf16", "fp16", "fp8", "fp4", "fp32"})
        out.push_back(key(std::string("cluster.gpu.peak_tflops.") + precision, number, "", kSpeed));
    const std::vector<PlanKey> links{
        key("cluster.gpu.multiprocessors", integer, "0: no tile and wave quantization (CPU, TPU).", kSmall),
        key("cluster.gpu.power_w", number, "Watt; 0 is unknown.", kSmall),
        key("cluster.gpu.design_power_w", number,
            "Watt for which the peaks are stated, where the board's limit is lower; 0: power_w.", kSmall),
        key("cluster.gpu.product_power_w", number,
            "Watt at which matrix products would keep the clock of the peaks; 0: not known, the stack's "
            "sustained_clock holds.",
            kSmall),
        key("cluster.gpu.exponentials_per_clock", number,
            "Of a multiprocessor's special function units, for the softmax; default 16.", kSpeed),
        key("cluster.gpu.host_link_gb_s", number,
            "To the host's memory, one way, for offload; 0: not known, the stack's host_transfer_s_per_gb holds.",
            kSmall),
        required(key("cluster.gpus_per_node", integer, "GPUs of one node.", {1, 1 << 16})),
        required(key("cluster.intra_node", object, "Links within a node.")),
        required(key("cluster.intra_node.bandwidth_gb_s", number, "All links of one GPU.", kSpeed)),
        key("cluster.intra_node.latency_us", number, "Start of a collective.", kLatency), topology,
        key("cluster.intra_node.pair_gb_s", number, "One pair, where there is no switch; 0: as bandwidth_gb_s.",
            kSpeedOrNone),
        key("cluster.intra_node.hop_us", number, "One step of a ring; 0: 0.4 of latency_us.", kLatency),
        key("cluster.intra_node.torus_axes", integer_list,
            "torus: lengths of one to three axes, whose product is gpus_per_node; default as many equal ones as a chip "
            "has pairs of links.",
            {1, 1 << 16}),
        key("cluster.intra_node.torus_closes_at", integer,
            "torus: an axis of a job closes to a ring where its length is a multiple of this; 0: where it is the "
            "longest axis.",
            {0, 1 << 16}),
        required(key("cluster.inter_node", object, "Links between nodes.")),
        required(
            key("cluster.inter_node.bandwidth_gb_s", number, "A GPU's share of the node's network adapters.", kSpeed)),
        key("cluster.inter_node.latency_us", number, "Start of a collective.", kLatency),
        key("cluster.inter_node.nics_per_node", number, "0 is unknown.", kSmall),
        key("cluster.inter_node.p2p_gb_s", number,
            "Per node: measured limit of point-to-point traffic across nodes; 0 is unknown.", kSpeedOrNone),
        key("cluster.inter_node.hop_us", number, "One step of a ring between nodes; 0: 0.4 of latency_us.", kLatency),
        key("cluster.inter_node.nic_share", number,
            "Of the bandwidth what a GPU reaches whose way to the adapter leads through the other CPU socket or a "
            "shared PCIe switch; default 1.",
            {0, 1, true}),
        key("cluster.rack", object, "A domain of nodes with links of its own (NVLink across nodes); 0 nodes: none."),
        required(key("cluster.rack.nodes", integer, "", {0, kMaxGpus})),
        key("cluster.rack.bandwidth_gb_s", number, "", kSpeedOrNone),
        key("cluster.rack.latency_us", number, "", kLatency)};
    out.insert(out.end(), links.begin(), links.end());
    for (const char* part : {"cluster", "cluster.gpu", "cluster.intra_node", "cluster.inter_node", "cluster.rack"}) {
        for (const char* remark : {".source", ".date", ".measured", ".notes"})
            out.push_back(key(std::string(part) + remark, open_object, "Where a figure comes from; read by people."));
    }
    return out;
}

std::vector<PlanKey> layout()
{
    return {required(bound(FOURFOLD_MEMBER(gpus), "tp x cp x pp x dp.", kDegree)),
        key("stack", FieldType::id_or_open_object,
            "Whose software runs the plan: a stack preset's id (default generic), with @ and a release where one is "
            "meant, or an object."),
        key("layout", FieldType::object, "Degrees of parallelism and how ranks lie on GPUs."),
        bound(FOURFOLD_MEMBER(layout.tp), "Tensor parallel.", kDegree),
        bound(FOURFOLD_MEMBER(layout.cp), "Context parallel.", kDegree),
        bound(FOURFOLD_MEMBER(layout.pp), "Pipeline parallel.", kDegree),
        bound(FOURFOLD_MEMBER(layout.dp), "Data parallel; default gpus / (tp x cp x pp).", kDegree),
        bound(FOURFOLD_MEMBER(layout.ep), "Expert parallel, carved out of tp x cp x dp.", kDegree),
        bound(FOURFOLD_MEMBER(layout.etp), "Expert tensor parallel; default tp.", kDegree),
        bound(FOURFOLD_MEMBER(layout.virtual_stages), "Model chunks per pipeline rank.", {1, 4096}),
        bound(FOURFOLD_MEMBER(layout.dp_shard), "Ranks that share one sharded copy (HSDP); default the GPUs of a node.",
            kDegree),
        bound(FOURFOLD_MEMBER(layout.stage_layers),
            "Layers of each of the pp x virtual_stages chunks; default the stack's rule.", {0, 1e6}),
        bound(FOURFOLD_MEMBER(layout.order),
            "Which dimension varies fastest over ranks, innermost first; default the stack's.")};
}

std::vector<PlanKey> training()
{
    return {key("training", FieldType::object, "How the plan trains; defaults come from the stack."),
        bound(FOURFOLD_MEMBER(training.seq_len), "Tokens.", {1, 1 << 27}),
        bound(FOURFOLD_MEMBER(training.micro_batch), "Sequences per rank and step of the pipeline.", {1, 1 << 20}),
        bound(FOURFOLD_MEMBER(training.global_batch), "Sequences per step of the whole job.", kBatch),
        bound(FOURFOLD_MEMBER(training.micro_batches), "Per step and pipeline; may stand in for global_batch.", kBatch),
        key("training.ramp_up", FieldType::object,
            "The global batch starts at start and grows by increment over samples samples; all three are needed."),
        ramp_up("training.ramp_up.start", &RampUp::start, "Sequences per step.", kBatch),
        ramp_up("training.ramp_up.increment", &RampUp::increment, "Sequences per step.", kBatch),
        ramp_up("training.ramp_up.samples", &RampUp::samples, "Sequences.", {0, 1e15, true}), schedule(),
        bound(FOURFOLD_MEMBER(training.sharding),
            "none: DDP, ZeRO-0; optimizer: ZeRO-1; gradients: ZeRO-2; parameters: FSDP, ZeRO-3; hybrid: HSDP."),
        bound(FOURFOLD_MEMBER(training.recompute), "Activation recomputation."),
        bound(FOURFOLD_MEMBER(training.recompute_layers), "Layers of a stage that recompute; default all.", kLayers),
        unless_default(bound(FOURFOLD_MEMBER(training.recompute_every),
            "Every so many of a stage's layers recompute, the first of them layer number recompute_every.", kLayers)),
        recompute_parts(bound(FOURFOLD_MEMBER(training.recompute_parts),
            "What of a layer selective recomputation computes again: core-attention, mlp, layer-norm, moe, mla-up-proj "
            "(queries, keys and values from latents), moe-act (the activation inside experts); or operations, all but "
            "attention, every second product and what came over the network (torchtitan).")),
        bound(FOURFOLD_MEMBER(training.precision), "Of the matrix products."),
        bound(FOURFOLD_MEMBER(training.grad_dtype), "In which gradients are accumulated and reduced."),
        bound(FOURFOLD_MEMBER(training.optimizer_state_dtype), "Of the optimizer's moments."),
        bound(FOURFOLD_MEMBER(training.optimizer),
            "fused: its step is one kernel. muon: Muon for hidden matrices, fused AdamW for all else."),
        unless_default(bound(FOURFOLD_MEMBER(training.optimizer_in_backward),
            "Each weight is updated as soon as its gradient is final, in the backward pass, and the gradient's memory "
            "given back.")),
        bound(FOURFOLD_MEMBER(training.offload), "What the host's memory keeps."),
        unless_default(bound(FOURFOLD_MEMBER(training.offload_layers),
            "Of offload activations: first layers of a stage whose activations leave; default all.", kLayers)),
        bound(FOURFOLD_MEMBER(training.sequence_parallel), "Sequence parallelism within the tensor-parallel group."),
        bound(FOURFOLD_MEMBER(training.compile),
            "Compiled or fused kernels. Stack fourfold: its own where true (its default), LibTorch's operations one by "
            "one where false."),
        bound(FOURFOLD_MEMBER(training.async_tp), "Tensor-parallel collectives overlapped with the products."),
        bound(FOURFOLD_MEMBER(training.attention), "Attention kernel."),
        bound(FOURFOLD_MEMBER(training.fp8_recipe),
            "What shares a scale in fp8 products: a tensor, a row, a block of 128 (by 128), or 32 elements whose scale "
            "the matrix units take (Blackwell, CDNA 4)."),
        unless_default(bound(FOURFOLD_MEMBER(training.fp8_scale_group),
            "Which ranks share the scale of a tensor or row that they hold in parts: all of a micro-batch, tp, or each "
            "rank alone.")),
        unless_default(bound(FOURFOLD_MEMBER(training.mx_rounding),
            "Of mxfp8's power of two: floor (OCP MX v1.0) cuts the largest numbers off, ceil none.")),
        bound(FOURFOLD_MEMBER(training.cp_method), "How context parallelism exchanges keys and values."),
        key("training.fsdp", FieldType::object, "How sharded parameters are gathered."),
        bound(FOURFOLD_MEMBER(training.fsdp.layers_per_unit), "Layers that are gathered together.", kLayers),
        bound(FOURFOLD_MEMBER(training.fsdp.reshard_after_forward),
            "Freed after the forward pass and gathered again for the backward pass."),
        bound(FOURFOLD_MEMBER(training.fsdp.prefetch), "The next unit is gathered while one computes."),
        unless_default(bound(FOURFOLD_MEMBER(training.fsdp.each_micro_batch),
            "In a pipeline: units are gathered and freed, and their gradients reduced, for each micro-batch. Else once "
            "a "
            "step, and a stage holds them whole meanwhile.")),
        key("training.overlap", FieldType::object, "What is communicated behind the computation."),
        bound(FOURFOLD_MEMBER(training.overlap.grad_reduce), "The reduction of gradients."),
        bound(FOURFOLD_MEMBER(training.overlap.param_gather), "The gather of updated parameters."),
        bound(FOURFOLD_MEMBER(training.overlap.p2p), "What pipeline stages send each other."),
        bound(FOURFOLD_MEMBER(training.overlap.expert_exchange),
            "Dispatch and combine of experts behind the work of another micro-batch (DualPipe)."),
        unless_default(bound(FOURFOLD_MEMBER(training.overlap.tensor_parallel),
            "Of async_tp: what products do not hide, behind the work of another micro-batch.")),
        key("training.experts", FieldType::object, "How a mixture of experts trains."),
        unless_default(bound(FOURFOLD_MEMBER(training.experts.balance),
            "Over which tokens the balance loss counts: those of a sequence, or of a micro-batch of all replicas.")),
        unless_default(bound(FOURFOLD_MEMBER(training.experts.capacity),
            "Tokens that an expert takes, as a multiple of the mean; later ones are dropped. 0: none is.", {0, 1e6})),
        unless_default(bound(FOURFOLD_MEMBER(training.experts.capacity_of),
            "Which tokens share an expert's places: those of a sequence, or of a rank's micro-batch, which differs "
            "from layout to layout.")),
        bound(FOURFOLD_MEMBER(training.flop_convention), "How TFLOP/s per GPU are counted.")};
}

std::vector<PlanKey> run()
{
    std::vector<PlanKey> out{key("run", FieldType::object, "What the trainer needs beyond the layout."),
        bound(FOURFOLD_MEMBER(run.steps), "Optimizer steps; default 100 when tokens is absent too.", kSteps),
        bound(FOURFOLD_MEMBER(run.tokens), "Length of the run in tokens, where steps is absent.", {0, 1e18, true}),
        bound(FOURFOLD_MEMBER(run.seed), "Of weights and data.", {0, 18446744073709551615.0})};
    add_data(out, FOURFOLD_MEMBER(run.data));
    const std::vector<PlanKey> samples{
        unless_default(bound(FOURFOLD_MEMBER(run.data_order),
            "random: windows at random places; epochs: each window of a file once before any comes again, shuffled, "
            "files by their weights.")),
        key("run.documents", FieldType::object, "Samples that hold several documents."),
        unless_default(bound(FOURFOLD_MEMBER(run.documents.mask),
            "No token sees another document, and no label is a token of another one.")),
        unless_default(bound(FOURFOLD_MEMBER(run.documents.end),
            "Id of each document's last token; default: the .idx beside the file says where documents begin.",
            {0, 2147483647})),
        unless_default(
            bound(FOURFOLD_MEMBER(run.documents.restart_positions), "Positions count from 0 in each document."))};
    out.insert(out.end(), samples.begin(), samples.end());
    const std::vector<PlanKey> middle{bound(FOURFOLD_MEMBER(run.lr), "Learning rate after the warm-up.", kSmall),
        bound(FOURFOLD_MEMBER(run.min_lr), "Learning rate at the end.", kSmall),
        bound(FOURFOLD_MEMBER(run.lr_schedule),
            "From lr down to min_lr after the warm-up; wsd keeps lr for 80 % of the steps."),
        bound(FOURFOLD_MEMBER(run.warmup_steps), "Steps over which the learning rate rises.", kStepsOrNone),
        bound_pair<ResolvedPlan>(
            "run.betas", [](auto& plan) -> auto& { return plan.run.beta1; },
            [](auto& plan) -> auto& { return plan.run.beta2; }, "Adam's decay rates.", {0, 1, false, true}),
        bound(FOURFOLD_MEMBER(run.eps), "Added to Adam's denominator.", {0, 1, true}),
        unless_default(bound(FOURFOLD_MEMBER(run.momentum),
            "Muon's, of hidden matrices; betas and eps are of all else.", {0, 1, false, true})),
        bound(FOURFOLD_MEMBER(run.weight_decay), "Not on norms and biases.", kSmall),
        bound(FOURFOLD_MEMBER(run.clip_norm), "Global gradient norm; 0 is off.", {0, 1e12}),
        unless_default(bound(FOURFOLD_MEMBER(run.routing_bias_rate),
            "How far a step moves the routing bias of each expert (DeepSeek-V3).", {0, 1e6})),
        unless_default(bound(FOURFOLD_MEMBER(run.ahead_loss_weight),
            "What the mean loss of multi-token prediction counts beside the next token's.", {0, 1e6})),
        key("run.eval", FieldType::object, "Held-out loss."),
        bound(FOURFOLD_MEMBER(run.eval.every), "Steps; 0: only at the end.", kStepsOrNone),
        bound(FOURFOLD_MEMBER(run.eval.batches), "Global batches per evaluation.", kSteps)};
    out.insert(out.end(), middle.begin(), middle.end());
    add_data(out, FOURFOLD_MEMBER(run.eval.data));
    const std::vector<PlanKey> rest{key("run.checkpoint", FieldType::object, "What is kept, and where a run starts."),
        bound(FOURFOLD_MEMBER(run.checkpoint.every), "Steps between checkpoints, and one at the end; 0: never.",
            kStepsOrNone),
        bound(FOURFOLD_MEMBER(run.checkpoint.keep), "How many to keep, the newest.", {1, 1e6}),
        bound(FOURFOLD_MEMBER(run.checkpoint.path),
            "Folder on the nodes, shared by all of them; relative: from the run's folder there. Empty: checkpoints in "
            "the run's folder."),
        bound(FOURFOLD_MEMBER(run.checkpoint.load),
            "Absolute path on the nodes: a folder of checkpoints (the newest), one checkpoint, written by any layout, "
            "or a model of Hugging Face's (safetensors). Empty: start from the seed."),
        unless_default(bound(FOURFOLD_MEMBER(run.checkpoint.from_last_good),
            "Where the checkpoint to load is damaged or incomplete: go on from the newest older one beside it that is "
            "whole.")),
        key("run.watch", FieldType::object, "What a run does about losses and gradient norms that stand out."),
        unless_default(bound(FOURFOLD_MEMBER(run.watch.not_finite),
            "Where the loss or the gradient norm is not finite: leave the update out, or end the run before it.")),
        unless_default(bound(FOURFOLD_MEMBER(run.watch.spike),
            "Where the loss or the gradient norm stands out: warn, leave the update out, or end the run before it.")),
        unless_default(bound(FOURFOLD_MEMBER(run.watch.sigma),
            "Standing out: so many standard deviations above the mean of the window (of the gradient norm's "
            "logarithm), and a hundredth.",
            {0, 1e6, true})),
        unless_default(
            bound(FOURFOLD_MEMBER(run.watch.window), "Steps before this one that it is compared with.", {20, 1e6})),
        bound(FOURFOLD_MEMBER(run.log_every), "Steps.", kSteps),
        bound(FOURFOLD_MEMBER(run.read_at),
            "The step whose figures are the headline; default the median after the warm-up.", kSteps),
        bound(FOURFOLD_MEMBER(run.deterministic), "Kernels that add in a fixed order."),
        bound(FOURFOLD_MEMBER(run.environment), "Variables for every rank, recorded.")};
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

// Of no resolved plan: what the training as a whole costs changes neither a run nor its prediction, and so no hash.
// core/search/plan_budget.h reads them from the file.
std::vector<PlanKey> budget()
{
    constexpr FieldRange kPositive{0, 1e12, true};
    return {key("budget", FieldType::object,
                "What the whole training costs: for days, money, energy and goodput alone. Its length is run.tokens."),
        key("budget.price_per_gpu_hour", FieldType::number, "Of one GPU, in any currency.", kPositive),
        key("budget.gpu_mtbf_hours", FieldType::number,
            "Mean hours between two interruptions of a run by one GPU (Llama 3 405B saw about 50,000).", kPositive),
        key("budget.node_mtbf_hours", FieldType::number,
            "The same by one node, beside those by its GPUs or instead of them.", kPositive),
        key("budget.storage_gb_s", FieldType::number, "GB/s that the whole job writes while it saves a checkpoint.",
            kPositive),
        key("budget.restart_s", FieldType::number, "Seconds from an interruption to the first step again; default 600.",
            {0, 1e9}),
        key("budget.gpu_power_w", FieldType::number, "Watts that a GPU draws on average; default its rated power.",
            {0, 1e6, true}),
        key("budget.facility_factor", FieldType::number,
            "Energy of the site over that of its GPUs (hosts, network, cooling); default 1.", {1, 1000})};
}

std::vector<BoundField<DataSource>> make_data_fields()
{
    using Key = BoundField<DataSource>;
    Key path = bound_field<DataSource>(FOURFOLD_MEMBER(path), "Relative paths start at the plan file's folder.");
    path.required = true;
    Key dtype = bound_field<DataSource>(
        FOURFOLD_MEMBER(dtype), "Default: what the file or an .idx beside it says, else bytes for .txt, else uint16.");
    dtype.type = FieldType::choice;
    dtype.choices = {"uint8", "uint16", "uint32"};
    dtype.write = [](const DataSource& source) { return source.dtype.empty() ? Json() : Json(source.dtype); };
    return {path, bound_field<DataSource>(FOURFOLD_MEMBER(weight), "Share of the batches.", {0, 1e9, true}), dtype,
        bound_pair<DataSource>(
            "range", [](auto& source) -> auto& { return source.begin; },
            [](auto& source) -> auto& { return source.end; }, "The part of the file used, as fractions [begin, end].",
            {0, 1})};
}
#undef FOURFOLD_MEMBER
} // namespace

const std::vector<BoundField<DataSource>>& data_fields()
{
    static const auto kFields = make_data_fields();
    return kFields;
}

const std::vector<BoundField<ResolvedPlan>>& bound_plan_fields()
{
    static const auto kFields = [] {
        std::vector<PlanKey> all;
        for (const auto& part : {head(), cluster(), layout(), training(), run(), budget()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return kFields;
}

const std::vector<Field>& plan_fields()
{
    static const std::vector<Field> kFields(bound_plan_fields().begin(), bound_plan_fields().end());
    return kFields;
}

} // namespace fourfold
