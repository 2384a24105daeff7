// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/run_settings.h"
#include "core/layout/training.h"
#include "core/plan/fields.h"

#include <map>

namespace fourfold {

namespace {
Field field(const char* path, FieldType type)
{
    return Field{path, type};
}
Field integer(const char* path, double minimum, double maximum)
{
    return Field{path, FieldType::integer, minimum, maximum};
}
Field integers(const char* path, double minimum, double maximum)
{
    return Field{path, FieldType::integer_list, minimum, maximum};
}
// [minimum, maximum]
Field number(const char* path, double minimum, double maximum)
{
    return Field{path, FieldType::number, minimum, maximum};
}
// (0, maximum]
Field positive(const char* path, double maximum)
{
    return Field{path, FieldType::number, 0, maximum, true};
}
template <typename Enum>
Field choice(const char* path, FieldType type = FieldType::choice)
{
    Field out{path, type};
    out.choices = spellings<Enum>();
    return out;
}

// Generous limits whose products still fit into the types that hold them.
constexpr double kMaxDegree = kMaxGpus;
constexpr double kMaxSteps = 1'000'000'000;
constexpr double kMaxSeconds = 1e9;
constexpr double kMaxTokens = 1e18;

void add_data_fields(std::vector<Field>& out, const std::string& list)
{
    out.push_back(field(list.c_str(), FieldType::object_list));
    const std::string item = list + "[].";
    out.push_back(field((item + "path").c_str(), FieldType::text));
    out.push_back(positive((item + "weight").c_str(), 1e9));
    Field dtype{item + "dtype", FieldType::choice};
    dtype.choices = {"uint8", "uint16", "uint32"};
    out.push_back(dtype);
    out.push_back(Field{item + "range", FieldType::number_pair, 0, 1});
}

void add_cluster_fields(std::vector<Field>& out)
{
    Field topology{"cluster.intra_node.topology", FieldType::choice};
    topology.choices = {"switch", "pairs", "torus"};
    const std::vector<Field> fields{field("cluster", FieldType::id_or_object), field("cluster.id", FieldType::text),
        field("cluster.name", FieldType::text), field("cluster.gpu", FieldType::id_or_object),
        field("cluster.gpu.id", FieldType::text), field("cluster.gpu.name", FieldType::text),
        field("cluster.gpu.generation", FieldType::text), positive("cluster.gpu.memory_gib", 1e6),
        positive("cluster.gpu.memory_bandwidth_gb_s", 1e9), field("cluster.gpu.peak_tflops", FieldType::object),
        positive("cluster.gpu.peak_tflops.bf16", 1e9), positive("cluster.gpu.peak_tflops.fp16", 1e9),
        positive("cluster.gpu.peak_tflops.fp8", 1e9), positive("cluster.gpu.peak_tflops.fp4", 1e9),
        positive("cluster.gpu.peak_tflops.fp32", 1e9), integer("cluster.gpu.multiprocessors", 0, 1e6),
        number("cluster.gpu.power_w", 0, 1e6), number("cluster.gpu.design_power_w", 0, 1e6),
        integer("cluster.gpus_per_node", 1, 1 << 16), field("cluster.intra_node", FieldType::object),
        positive("cluster.intra_node.bandwidth_gb_s", 1e9), number("cluster.intra_node.latency_us", 0, kMaxSeconds),
        topology, number("cluster.intra_node.pair_gb_s", 0, 1e9), number("cluster.intra_node.hop_us", 0, kMaxSeconds),
        integers("cluster.intra_node.torus_axes", 1, 1 << 16),
        integer("cluster.intra_node.torus_closes_at", 0, 1 << 16), field("cluster.inter_node", FieldType::object),
        positive("cluster.inter_node.bandwidth_gb_s", 1e9), number("cluster.inter_node.latency_us", 0, kMaxSeconds),
        number("cluster.inter_node.nics_per_node", 0, 1e6), number("cluster.inter_node.p2p_gb_s", 0, 1e9),
        number("cluster.inter_node.hop_us", 0, kMaxSeconds), positive("cluster.inter_node.nic_share", 1),
        field("cluster.rack", FieldType::object), integer("cluster.rack.nodes", 0, kMaxGpus),
        number("cluster.rack.bandwidth_gb_s", 0, 1e9), number("cluster.rack.latency_us", 0, kMaxSeconds)};
    out.insert(out.end(), fields.begin(), fields.end());
    // Where a figure comes from; read by people.
    for (const char* object : {"cluster", "cluster.gpu", "cluster.intra_node", "cluster.inter_node", "cluster.rack"}) {
        const std::string prefix = object;
        for (const char* key : {".source", ".date", ".measured", ".notes"})
            out.push_back(field((prefix + key).c_str(), FieldType::open_object));
    }
}

void add_layout_fields(std::vector<Field>& out)
{
    const std::vector<Field> fields{field("layout", FieldType::object), integer("layout.tp", 1, kMaxDegree),
        integer("layout.cp", 1, kMaxDegree), integer("layout.pp", 1, kMaxDegree), integer("layout.dp", 1, kMaxDegree),
        integer("layout.ep", 1, kMaxDegree), integer("layout.etp", 1, kMaxDegree),
        integer("layout.virtual_stages", 1, 4096), integer("layout.dp_shard", 1, kMaxDegree),
        integers("layout.stage_layers", 0, 1e6), field("layout.order", FieldType::order)};
    out.insert(out.end(), fields.begin(), fields.end());
}

void add_training_fields(std::vector<Field>& out)
{
    const std::vector<Field> fields{field("training", FieldType::object), integer("training.seq_len", 1, 1 << 27),
        integer("training.micro_batch", 1, 1 << 20), integer("training.global_batch", 1, kMaxBatch),
        integer("training.micro_batches", 1, kMaxBatch), field("training.ramp_up", FieldType::object),
        integer("training.ramp_up.start", 1, kMaxBatch), integer("training.ramp_up.increment", 1, kMaxBatch),
        positive("training.ramp_up.samples", 1e15), choice<Schedule>("training.schedule", FieldType::schedule),
        choice<Sharding>("training.sharding"), choice<Recompute>("training.recompute"),
        integer("training.recompute_layers", 1, 1e6), choice<Precision>("training.precision"),
        choice<Precision>("training.grad_dtype"), choice<Precision>("training.optimizer_state_dtype"),
        choice<Optimizer>("training.optimizer"), choice<Offload>("training.offload"),
        field("training.sequence_parallel", FieldType::boolean), field("training.compile", FieldType::boolean),
        field("training.async_tp", FieldType::boolean), choice<AttentionKernel>("training.attention"),
        choice<Fp8Recipe>("training.fp8_recipe"), choice<CpMethod>("training.cp_method"),
        field("training.fsdp", FieldType::object), integer("training.fsdp.layers_per_unit", 1, 1e6),
        field("training.fsdp.reshard_after_forward", FieldType::boolean),
        field("training.fsdp.prefetch", FieldType::boolean), field("training.overlap", FieldType::object),
        field("training.overlap.grad_reduce", FieldType::boolean),
        field("training.overlap.param_gather", FieldType::boolean), field("training.overlap.p2p", FieldType::boolean),
        field("training.overlap.expert_exchange", FieldType::boolean),
        choice<FlopConvention>("training.flop_convention")};
    out.insert(out.end(), fields.begin(), fields.end());
}

void add_run_fields(std::vector<Field>& out)
{
    const std::vector<Field> before{field("run", FieldType::object), integer("run.steps", 1, kMaxSteps),
        positive("run.tokens", kMaxTokens), integer("run.seed", 0, 18446744073709551615.0)};
    out.insert(out.end(), before.begin(), before.end());
    add_data_fields(out, "run.data");
    const std::vector<Field> middle{number("run.lr", 0, 1e6), number("run.min_lr", 0, 1e6),
        choice<LrSchedule>("run.lr_schedule"), integer("run.warmup_steps", 0, kMaxSteps),
        Field{"run.betas", FieldType::number_pair, 0, 1, false, true}, positive("run.eps", 1),
        number("run.weight_decay", 0, 1e6), number("run.clip_norm", 0, 1e12), field("run.eval", FieldType::object),
        integer("run.eval.every", 0, kMaxSteps), integer("run.eval.batches", 1, kMaxSteps)};
    out.insert(out.end(), middle.begin(), middle.end());
    add_data_fields(out, "run.eval.data");
    const std::vector<Field> after{field("run.checkpoint", FieldType::object),
        integer("run.checkpoint.every", 0, kMaxSteps), integer("run.checkpoint.keep", 1, 1e6),
        field("run.checkpoint.path", FieldType::text), field("run.checkpoint.load", FieldType::text),
        field("run.checkpoint.from_last_good", FieldType::boolean), integer("run.log_every", 1, kMaxSteps),
        integer("run.read_at", 1, kMaxSteps), field("run.deterministic", FieldType::boolean),
        field("run.environment", FieldType::text_map)};
    out.insert(out.end(), after.begin(), after.end());
}

std::vector<Field> make_fields()
{
    std::vector<Field> out{
        integer("fourfold_plan", 1, 1e9), field("name", FieldType::text), field("model", FieldType::id_or_open_object)};
    add_cluster_fields(out);
    out.push_back(integer("gpus", 1, kMaxGpus));
    out.push_back(field("stack", FieldType::id_or_open_object));
    add_layout_fields(out);
    add_training_fields(out);
    add_run_fields(out);
    return out;
}
} // namespace

const std::vector<Field>& plan_fields()
{
    static const std::vector<Field> kFields = make_fields();
    return kFields;
}

const Field* find_field(const std::string& pattern)
{
    static const std::map<std::string, const Field*> kIndex = [] {
        std::map<std::string, const Field*> index;
        for (const Field& field : plan_fields())
            index.emplace(field.path, &field);
        return index;
    }();
    const auto found = kIndex.find(pattern);
    return found == kIndex.end() ? nullptr : found->second;
}

} // namespace fourfold
