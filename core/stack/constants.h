// SPDX-License-Identifier: GPL-3.0-or-later
// The documented constants of the cost model. A stack preset gives some of them by name, for the whole stack or for one
// GPU; what it leaves out keeps the prior below. Times are in seconds, efficiencies are shares of the data sheet.
#pragma once

#include "core/stack/stack.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace fourfold {

enum class Constant {
    zero, // always 0 and 1: for rules that need no fitted value
    one,
    // Compute
    sustained_clock,
    gemm_efficiency,
    gemm_half_k,
    fp8_gain,
    fp8_blockwise_share,
    fp8_cast_bytes,
    stream_efficiency,
    elementwise_efficiency,
    elementwise_efficiency_compiled,
    kernel_floor_s,
    attention_efficiency,
    attention_backward_efficiency,
    attention_half_head_dim,
    attention_hopper_gain,
    attention_context_loss,
    batched_gemm_efficiency,
    batched_gemm_half_head_dim,
    unaligned_head_efficiency,
    head_dim_128_efficiency,
    softmax_passes,
    cross_entropy_bytes,
    gradient_accumulation_bytes,
    selective_gemm_share,
    selective_attention_share,
    selective_elementwise_share,
    expert_imbalance,
    expert_product_scale,
    expert_fp8_share,
    expert_send_once,
    // Communication
    intra_node_efficiency,
    inter_node_efficiency,
    inter_node_decay,
    collective_latency_s,
    gradient_latency_s,
    fsdp_latency_s,
    tp_exposed,
    async_tp_exposed,
    weight_gather_exposed,
    tp_sync_s,
    cp_step_s,
    pipeline_transfer_scale,
    interleaved_transfer_scale,
    pipeline_latency_s,
    gradient_scale,
    gradient_overlap,
    gradient_exposed_floor,
    zero1_all_reduce,
    fsdp_exposed_floor,
    fsdp_pipeline_scale,
    fsdp_pipeline_gathers,
    fsdp_pipeline_root,
    fsdp_root_gathers,
    tp_weight_gathers,
    tp_embedding_gathers,
    tp_loss_values,
    shared_gradient_sums,
    step_scalars,
    fp8_scale_sums,
    overlap_slowdown,
    // Host and launch
    layer_floor_forward_s,
    layer_floor_backward_s,
    layer_floor_tp_s,
    layer_floor_expert_s,
    layer_floor_pipeline_s,
    layer_floor_power,
    micro_batch_overhead_s,
    thread_scaling,
    thread_start_s,
    replica_jitter_s,
    replica_slowdown,
    wide_replica_slowdown,
    straggler_spread,
    allocator_pressure,
    launch_s,
    blocking_launch_s,
    host_transfer_s_per_gb,
    host_update_s_per_gb,
    step_overhead_s,
    optimizer_shard_bytes,
    optimizer_local_bytes,
    optimizer_efficiency,
    // Memory
    weight_memory_scale,
    gradient_memory_scale,
    optimizer_memory_scale,
    activation_hidden_factor,
    activation_gathered_factor,
    eager_activation_factor,
    quantized_inputs,
    expert_outputs_kept,
    selective_memory_share,
    logits_memory_bytes,
    pipeline_gradient_bytes,
    fsdp_unit_buffers,
    gradient_buffers,
    async_tp_memory_saving,
    unfused_optimizer_copies,
    fragmentation,
    expandable_fragmentation,
    framework_memory_gib,
    context_memory_gib,
    communicator_memory_gib,
    // Interval
    interval_node,
    interval_tens,
    interval_hundreds,
    interval_memory,
    interval_device_memory,
    interval_elsewhere,
    interval_gpu,
    interval_unmeasured,
    interval_kernel,
    interval_experts,
    interval_distance,
    interval_memory_unmeasured,
    tie_width,
    count,
};

struct ConstantInfo {
    Constant id;
    std::string_view name; // in preset files
    double prior; // used where a stack has no fitted value
    std::string_view unit;
    std::string_view meaning;
};

inline constexpr std::size_t kConstants = static_cast<std::size_t>(Constant::count);

// clang-format off
inline constexpr std::array<ConstantInfo, kConstants> kConstantTable { {
    { Constant::zero, "zero", 0, "", "always 0" },
    { Constant::one, "one", 1, "", "always 1" },
    { Constant::sustained_clock, "sustained_clock", 0.83, "ratio", "clock that the power limit leaves matrix products, over the clock of the peak, on GPUs with an H100's matrix rate a multiprocessor or more (an A100 keeps its clock)" },
    { Constant::gemm_efficiency, "gemm_efficiency", 0.75, "share of peak", "large aligned matrix products" },
    { Constant::gemm_half_k, "gemm_half_k", 100, "elements", "inner dimension at which a product runs at half its rate, K / (K + this), at the FLOP per byte of an H100; elsewhere in proportion: the result's traffic that nothing hides" },
    { Constant::fp8_gain, "fp8_gain", 1.6, "ratio", "rate of fp8 products over bf16 products" },
    { Constant::fp8_blockwise_share, "fp8_blockwise_share", 0.8, "share", "of the gain of fp8 what products keep whose scales are of blocks of 128" },
    { Constant::fp8_cast_bytes, "fp8_cast_bytes", 4, "bytes per element", "traffic of casting inputs to fp8 and of their maxima" },
    { Constant::stream_efficiency, "stream_efficiency", 0.85, "share of memory bandwidth", "simple streaming kernels" },
    { Constant::elementwise_efficiency, "elementwise_efficiency", 0.5, "share of memory bandwidth", "norms, activations, residuals as separate (eager) kernels" },
    { Constant::elementwise_efficiency_compiled, "elementwise_efficiency_compiled", 0.8, "share of memory bandwidth", "the same, fused by a compiler" },
    { Constant::kernel_floor_s, "kernel_floor_s", 0, "s", "shortest time of one kernel or operator" },
    { Constant::attention_efficiency, "attention_efficiency", 0.4, "share of peak", "FlashAttention-2 forward at head dimension 128 on an H100" },
    { Constant::attention_backward_efficiency, "attention_backward_efficiency", 0.8, "ratio", "efficiency of flash attention backward over forward" },
    { Constant::attention_half_head_dim, "attention_half_head_dim", 32, "elements", "head dimension at which the softmax takes as long as the products of FlashAttention-2 on an H100; grows with the products' rate of a multiprocessor" },
    { Constant::attention_hopper_gain, "attention_hopper_gain", 1.6, "ratio", "matrix rate of cuDNN and FlashAttention-3, written for Hopper and later, over FlashAttention-2" },
    { Constant::attention_context_loss, "attention_context_loss", 0.4, "ratio", "slowdown of attention cut into c ring blocks, with what remains of the causal imbalance (1 where the sequence is cut in order): 1 + this (c - 1) / c" },
    { Constant::batched_gemm_efficiency, "batched_gemm_efficiency", 0.4, "share of peak", "batched products of unfused attention" },
    { Constant::batched_gemm_half_head_dim, "batched_gemm_half_head_dim", 40, "elements", "head dimension at which those run at half their rate" },
    { Constant::unaligned_head_efficiency, "unaligned_head_efficiency", 0.05, "share of peak", "those products with a head dimension not divisible by 8" },
    { Constant::head_dim_128_efficiency, "head_dim_128_efficiency", 0, "share of peak", "those products at head dimension 128; 0 = no special case" },
    { Constant::softmax_passes, "softmax_passes", 6, "passes", "reads and writes of the score matrix by mask, softmax and dropout (forward)" },
    { Constant::cross_entropy_bytes, "cross_entropy_bytes", 28, "bytes per logit", "memory traffic of the loss, forward and backward" },
    { Constant::gradient_accumulation_bytes, "gradient_accumulation_bytes", 12, "bytes per parameter", "traffic of adding one micro-batch's gradients" },
    { Constant::selective_gemm_share, "selective_gemm_share", 0, "share", "matrix products repeated by selective recomputation" },
    { Constant::selective_attention_share, "selective_attention_share", 1, "share", "attention repeated by selective recomputation" },
    { Constant::selective_elementwise_share, "selective_elementwise_share", 0, "share", "elementwise work repeated by selective recomputation" },
    { Constant::expert_imbalance, "expert_imbalance", 0.1, "share", "tokens of the busiest expert-parallel rank above the mean" },
    { Constant::expert_product_scale, "expert_product_scale", 1, "ratio", "time of the products of a rank's experts, each of its own tokens, over that of equal products in one batch" },
    { Constant::expert_fp8_share, "expert_fp8_share", 1, "share", "of the gain of fp8 what the experts' products keep: each expert's operands are cast and transposed for themselves, and its products are small" },
    { Constant::expert_send_once, "expert_send_once", 0, "0 or 1", "1: a token goes once to each node that holds some of its experts and is handed on inside (DeepEP), not once to each expert" },
    { Constant::intra_node_efficiency, "intra_node_efficiency", 0.75, "share of bandwidth", "collectives inside a node" },
    { Constant::inter_node_efficiency, "inter_node_efficiency", 0.6, "share of bandwidth", "traffic between nodes" },
    { Constant::inter_node_decay, "inter_node_decay", 0, "exponent", "bandwidth between n nodes falls as n^-this" },
    { Constant::collective_latency_s, "collective_latency_s", 1e-5, "s", "start of a collective, times log2 of its ranks" },
    { Constant::gradient_latency_s, "gradient_latency_s", 1e-4, "s", "the same for the gradient reduction with all its buckets" },
    { Constant::fsdp_latency_s, "fsdp_latency_s", 3e-5, "s", "the same for one FSDP unit" },
    { Constant::tp_exposed, "tp_exposed", 1, "share", "TP time that stays exposed without asynchronous TP, with sequence parallelism; below 1 where the library pipelines some of its collectives" },
    { Constant::async_tp_exposed, "async_tp_exposed", 0.5, "share", "TP time that asynchronous TP leaves exposed" },
    { Constant::weight_gather_exposed, "weight_gather_exposed", 0.5, "share", "exposed share of the gather that sequence parallelism repeats for weight gradients" },
    { Constant::tp_sync_s, "tp_sync_s", 0, "s", "wait of one TP all-reduce at TP 8, growing with (TP / 8)^3" },
    { Constant::cp_step_s, "cp_step_s", 5e-5, "s", "fixed cost of one ring attention step (backward: twice)" },
    { Constant::pipeline_transfer_scale, "pipeline_transfer_scale", 1, "ratio", "exposed share of a pipeline hop at link rate" },
    { Constant::interleaved_transfer_scale, "interleaved_transfer_scale", 1, "ratio", "the same between virtual stages; 0 where the software sends and receives beside the work of other chunks" },
    { Constant::pipeline_latency_s, "pipeline_latency_s", 0, "s", "fixed cost of a pipeline hop" },
    { Constant::gradient_scale, "gradient_scale", 1, "ratio", "measured over computed time of gradient reduction and parameter gather" },
    { Constant::gradient_overlap, "gradient_overlap", 0.7, "share", "of the last backward (first forward) that hides gradient reduction (parameter gather)" },
    { Constant::gradient_exposed_floor, "gradient_exposed_floor", 0, "share", "of that communication that never hides" },
    { Constant::zero1_all_reduce, "zero1_all_reduce", 0, "0 or 1", "1: sharded optimizer states still all-reduce whole gradients" },
    { Constant::fsdp_exposed_floor, "fsdp_exposed_floor", 0.05, "share", "of FSDP gathers and reductions that never hides" },
    { Constant::fsdp_pipeline_scale, "fsdp_pipeline_scale", 1, "ratio", "measured over computed time of FSDP communication under pipeline parallelism" },
    { Constant::fsdp_pipeline_gathers, "fsdp_pipeline_gathers", 2, "gathers", "of a layer's FSDP weights in a step under pipeline parallelism" },
    { Constant::fsdp_pipeline_root, "fsdp_pipeline_root", 0, "0 or 1", "1: embedding and head are gathered and reduced there too" },
    { Constant::fsdp_root_gathers, "fsdp_root_gathers", 2, "gathers", "of embedding and head for a micro-batch, where layers are gathered twice" },
    { Constant::tp_weight_gathers, "tp_weight_gathers", 1, "gathers", "of the inputs of a sequence-parallel region for its weight gradients; 0: they are kept" },
    { Constant::tp_embedding_gathers, "tp_embedding_gathers", 0, "0 or 1", "1: the embedding's gradient is gathered over the sequence" },
    { Constant::tp_loss_values, "tp_loss_values", 0, "values", "fp32 numbers of a token that the vocabulary-parallel loss sums over TP" },
    { Constant::shared_gradient_sums, "shared_gradient_sums", 0, "0 or 1", "1: gradients of norms and of copied key and value heads are summed over TP, once a step" },
    { Constant::step_scalars, "step_scalars", 0, "values", "fp64 numbers that all ranks sum in one message a step; 0: the gradient norm alone, by group" },
    { Constant::fp8_scale_sums, "fp8_scale_sums", 0, "times", "that ranks which share an fp8 scale tell each other their largest magnitudes; 0: in the other constants" },
    { Constant::overlap_slowdown, "overlap_slowdown", 0, "share", "of hidden collectives that comes back as slower compute: their multiprocessors, memory traffic and power" },
    { Constant::layer_floor_forward_s, "layer_floor_forward_s", 0, "s", "host time to launch a layer's forward" },
    { Constant::layer_floor_backward_s, "layer_floor_backward_s", 0, "s", "host time to launch a layer's backward" },
    { Constant::layer_floor_tp_s, "layer_floor_tp_s", 0, "s", "host time that TP adds to a layer, forward and backward" },
    { Constant::layer_floor_expert_s, "layer_floor_expert_s", 0, "s", "host time that each expert of a rank adds to a layer, forward and backward: its products, casts and permutations are launched one by one" },
    { Constant::layer_floor_pipeline_s, "layer_floor_pipeline_s", 0, "s", "host time per layer and TP rank that PP over several nodes adds" },
    { Constant::layer_floor_power, "layer_floor_power", 6, "exponent", "p of the smooth maximum (a^p + b^p)^(1/p) of device and host time" },
    { Constant::micro_batch_overhead_s, "micro_batch_overhead_s", 0, "s", "fixed cost of a micro-batch" },
    { Constant::thread_scaling, "thread_scaling", 0.9, "exponent", "CPU ranks: n spare cores make a rank n^this times as fast" },
    { Constant::thread_start_s, "thread_start_s", 0, "s", "start and end of the threads of an operation on a CPU rank with several cores; what one core does in less stays there" },
    { Constant::replica_jitter_s, "replica_jitter_s", 0, "s", "wait per micro-batch for the slowest of the GPUs / TP groups, per group" },
    { Constant::replica_slowdown, "replica_slowdown", 0, "ratio", "slowdown per (GPUs / TP / 8) when a job spans several nodes" },
    { Constant::wide_replica_slowdown, "wide_replica_slowdown", 0, "ratio", "slowdown of a pipeline whose replica is larger than a node" },
    { Constant::straggler_spread, "straggler_spread", 0, "ratio", "spread s of the GPUs' speed: the slowest of n sets the pace, 1 + s sqrt(2 ln n)" },
    { Constant::allocator_pressure, "allocator_pressure", 0, "ratio", "slowdown by retried allocations at full memory, from 0 at 94 % of the capacity" },
    { Constant::launch_s, "launch_s", 0, "s", "host time of a launch beyond those of a dense layer in 16 bits: of experts, and of rounding to 8 bits (counted for stack fourfold)" },
    { Constant::blocking_launch_s, "blocking_launch_s", 1e-5, "s", "wait of one launch with CUDA_LAUNCH_BLOCKING=1" },
    { Constant::host_transfer_s_per_gb, "host_transfer_s_per_gb", 0.04, "s per 10^9 bytes", "offload: one way between GPU and host memory; where no stack says it, 1.25 / host_link_gb_s of the GPU" },
    { Constant::host_update_s_per_gb, "host_update_s_per_gb", 0.05, "s per 10^9 bytes", "offload: a GPU's share of the update on the host, per byte of state traffic" },
    { Constant::step_overhead_s, "step_overhead_s", 0.02, "s", "fixed cost of a step" },
    { Constant::optimizer_shard_bytes, "optimizer_shard_bytes", 34, "bytes per parameter", "traffic of the update, per parameter of the shard" },
    { Constant::optimizer_local_bytes, "optimizer_local_bytes", 10, "bytes per parameter", "gradient norm, clearing and casting, per unsharded parameter" },
    { Constant::optimizer_efficiency, "optimizer_efficiency", 0.8, "share of memory bandwidth", "the update" },
    { Constant::weight_memory_scale, "weight_memory_scale", 1, "ratio", "measured over computed size of weights" },
    { Constant::gradient_memory_scale, "gradient_memory_scale", 1, "ratio", "measured over computed size of gradients" },
    { Constant::optimizer_memory_scale, "optimizer_memory_scale", 1, "ratio", "measured over computed size of optimizer states" },
    { Constant::activation_hidden_factor, "activation_hidden_factor", 4, "tensors", "kept hidden-size tensors per layer (inputs of norms and blocks)" },
    { Constant::activation_gathered_factor, "activation_gathered_factor", 0, "tensors", "kept inputs gathered over TP per layer" },
    { Constant::eager_activation_factor, "eager_activation_factor", 1, "ratio", "activations of eager over compiled code; of the bundled trainer, whose both forms are counted, measured over computed ones" },
    { Constant::quantized_inputs, "quantized_inputs", 0, "0 or 1", "1: products of fp8 and fp4 keep their inputs for the weight gradients as they multiplied them, and the bf16 values go (Transformer Engine)" },
    { Constant::expert_outputs_kept, "expert_outputs_kept", 1, "tensors", "outputs of routed experts that are kept for the router's weights to multiply; 0 where those multiply before the last product" },
    { Constant::selective_memory_share, "selective_memory_share", 1, "share", "activations that selective recomputation keeps" },
    { Constant::logits_memory_bytes, "logits_memory_bytes", 6, "bytes per logit", "logits, their fp32 copy and gradient at the loss" },
    { Constant::pipeline_gradient_bytes, "pipeline_gradient_bytes", 4, "bytes per parameter", "unsharded gradients that FSDP keeps under pipeline parallelism" },
    { Constant::fsdp_unit_buffers, "fsdp_unit_buffers", 2, "units", "FSDP units gathered at the same time" },
    { Constant::gradient_buffers, "gradient_buffers", 0, "buffers", "of whole gradients that are filled or being reduced at once, each reduced in place, where only parts of gradients are kept; 0: one for each gathered unit" },
    { Constant::async_tp_memory_saving, "async_tp_memory_saving", 0, "share", "activations that asynchronous TP saves" },
    { Constant::unfused_optimizer_copies, "unfused_optimizer_copies", 5.5, "tensors", "fp32 temporaries of the largest tensor that adam and adamw keep, fused ones do not" },
    { Constant::fragmentation, "fragmentation", 1.05, "ratio", "reserved over allocated memory" },
    { Constant::expandable_fragmentation, "expandable_fragmentation", 0.3, "share", "of the fragmentation that expandable_segments:True leaves" },
    { Constant::framework_memory_gib, "framework_memory_gib", 0.5, "GiB", "library workspaces inside the framework's allocator" },
    { Constant::context_memory_gib, "context_memory_gib", 1, "GiB", "device context outside the allocator" },
    { Constant::communicator_memory_gib, "communicator_memory_gib", 0.3, "GiB", "buffers of one communicator of more than one rank" },
    { Constant::interval_node, "interval_node", 0.08, "ln", "half-width of the 90 % interval of the step time up to 8 GPUs" },
    { Constant::interval_tens, "interval_tens", 0.125, "ln", "the same up to 64 GPUs" },
    { Constant::interval_hundreds, "interval_hundreds", 0.28, "ln", "the same beyond" },
    { Constant::interval_memory, "interval_memory", 0.16, "ln", "half-width of the 90 % interval of memory" },
    { Constant::interval_device_memory, "interval_device_memory", 0.12, "ln", "the same of device memory against the capacity: how sharply runs fit or not" },
    { Constant::interval_elsewhere, "interval_elsewhere", 0.2, "ln", "half-width that another site or release of a measured software adds, in squares" },
    { Constant::interval_gpu, "interval_gpu", 0.25, "ln", "the same of a generation of GPUs that the software was never measured on" },
    { Constant::interval_unmeasured, "interval_unmeasured", 0.35, "ln", "the same where no run of the software was measured" },
    { Constant::interval_kernel, "interval_kernel", 0.15, "ln", "the same of an attention kernel that was not measured" },
    { Constant::interval_experts, "interval_experts", 0.35, "ln", "the same of a mixture of experts" },
    { Constant::interval_distance, "interval_distance", 0.07, "ln", "the same for each factor of e beyond measured sizes of model, job and sequence, and speeds of links" },
    { Constant::interval_memory_unmeasured, "interval_memory_unmeasured", 0.23, "ln", "what missing measurements of memory add to its half-width, in squares" },
    { Constant::tie_width, "tie_width", 0.01, "share", "layouts of one job whose predictions differ by less are ties" },
} };
// clang-format on

constexpr const ConstantInfo& info(Constant id)
{
    return kConstantTable[static_cast<std::size_t>(id)];
}
// Efficiencies, shares of a rate of the data sheet, are at most 1, whatever a preset says.
constexpr bool is_efficiency(const ConstantInfo& constant)
{
    return constant.unit.starts_with("share of ");
}
// Rates of kernels, the same on every GPU of a generation.
constexpr bool is_of_the_chip(const ConstantInfo& constant)
{
    return constant.unit == "share of peak" || constant.unit == "share of memory bandwidth";
}

namespace detail {
constexpr bool constant_table_in_order()
{
    for (std::size_t i = 0; i < kConstants; ++i)
        if (kConstantTable[i].id != static_cast<Constant>(i))
            return false;
    return true;
}
} // namespace detail
static_assert(detail::constant_table_in_order(), "kConstantTable follows the order of Constant");

// The constants that hold for one stack on one GPU, looked up once.
class Constants {
public:
    Constants() // the priors
    {
        for (const ConstantInfo& constant : kConstantTable)
            values_[static_cast<std::size_t>(constant.id)] = constant.prior;
    }
    Constants(const Stack& stack, const std::string& gpu_id)
    {
        for (const ConstantInfo& constant : kConstantTable)
            set(constant.id, stack.constant(std::string(constant.name), gpu_id, constant.prior));
    }
    // With the kernel that runs: a GPU that was not measured with it takes the stack's constants, and those of the chip
    // from the GPU of its generation that was, but never those of another kernel.
    Constants(const Stack& stack, const std::string& gpu_id, const std::string& generation, AttentionKernel kernel)
        : Constants(
            stack, stack.gpu_constants.contains(gpu_id) && stack.measured_with(gpu_id, kernel) ? gpu_id : std::string())
    {
        if (stack.gpu_constants.contains(gpu_id) && stack.measured_with(gpu_id, kernel))
            return;
        const std::string relative = stack.relative_of(generation, kernel);
        for (const ConstantInfo& constant : kConstantTable) {
            if (!relative.empty() && is_of_the_chip(constant))
                set(constant.id, stack.constant(std::string(constant.name), relative, constant.prior));
        }
    }
    double operator[](Constant id) const { return values_[static_cast<std::size_t>(id)]; }
    void set(Constant id, double value)
    {
        values_[static_cast<std::size_t>(id)] = is_efficiency(info(id)) ? std::min(value, 1.0) : value;
    }

private:
    std::array<double, kConstants> values_{};
};

} // namespace fourfold
