// SPDX-License-Identifier: GPL-3.0-or-later
// How a plan trains: batch, schedule, sharding, recomputation, precision. Every field resolved.
#pragma once

#include "core/base/json.h"
#include "core/base/word_set.h"
#include "core/base/words.h"
#include "core/schedule/schedules.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class Sharding { none, optimizer, gradients, parameters, hybrid };
template <>
inline constexpr auto kWords<Sharding> = std::to_array<std::string_view>(
    {"none", "optimizer", "gradients", "parameters", "hybrid"});
enum class Recompute { none, selective, full };
template <>
inline constexpr auto kWords<Recompute> = std::to_array<std::string_view>({"none", "selective", "full"});
// What of a layer selective recomputation computes once more. The parts are those of Megatron-LM's --recompute-modules:
// mla_up_proj is queries, keys and values from their latents, moe_act the activation inside routed experts.
// `operations` stands alone: all but attention, every second matrix product and what came over the network, as
// torchtitan's selective activation checkpointing by operation.
enum class RecomputePart { core_attention, mlp, layer_norm, moe, mla_up_proj, moe_act, operations };
template <>
inline constexpr auto kWords<RecomputePart> = std::to_array<std::string_view>(
    {"core-attention", "mlp", "layer-norm", "moe", "mla-up-proj", "moe-act", "operations"});
inline constexpr std::size_t kRecomputes = static_cast<std::size_t>(Recompute::full) + 1;
enum class Precision { fp32, fp16, bf16, fp8, nvfp4 };
template <>
inline constexpr auto kWords<Precision> = std::to_array<std::string_view>({"fp32", "fp16", "bf16", "fp8", "nvfp4"});
// Precisions of the layers' products alone; weights, activations and all else stay in bf16.
constexpr bool is_of_products(Precision precision)
{
    return precision == Precision::fp8 || precision == Precision::nvfp4;
}
enum class AttentionKernel { flash1, flash2, flash3, cudnn, fused_softmax, unfused };
template <>
inline constexpr auto kWords<AttentionKernel> = std::to_array<std::string_view>(
    {"flash1", "flash2", "flash3", "cudnn", "fused-softmax", "unfused"});
enum class Fp8Recipe { tensorwise, rowwise, blockwise, mxfp8 }; // what shares a scale
template <>
inline constexpr auto kWords<Fp8Recipe> = std::to_array<std::string_view>(
    {"tensorwise", "rowwise", "blockwise", "mxfp8"});
// Whose numbers share the scale of a tensor or row that ranks hold in parts: all of a micro-batch's (tp, cp and dp
// members), those of the tensor-parallel group, or each rank's own.
enum class Fp8ScaleGroup { micro_batch, tp, rank };
template <>
inline constexpr auto kWords<Fp8ScaleGroup> = std::to_array<std::string_view>({"micro-batch", "tp", "rank"});
// How the power of two of a block of mxfp8 follows from its largest magnitude: floor, as OCP MX v1.0 (section 6.3) has
// it, where the largest numbers may be cut off; ceil, which cuts off none.
enum class MxRounding { floor, ceil };
template <>
inline constexpr auto kWords<MxRounding> = std::to_array<std::string_view>({"floor", "ceil"});
enum class CpMethod { ring, all_gather, ulysses };
template <>
inline constexpr auto kWords<CpMethod> = std::to_array<std::string_view>({"ring", "all-gather", "ulysses"});
// muon: of hidden matrices (core/program/muon.h), and fused AdamW for the rest.
enum class Optimizer { adamw, adam, fused_adamw, fused_adam, muon };
template <>
inline constexpr auto kWords<Optimizer> = std::to_array<std::string_view>(
    {"adamw", "adam", "fused-adamw", "fused-adam", "muon"});
enum class Offload { none, activations, optimizer };
template <>
inline constexpr auto kWords<Offload> = std::to_array<std::string_view>({"none", "activations", "optimizer"});
enum class FlopConvention { megatron_lm, bloom_before_02_21, bloom_from_02_21, palm };
template <>
inline constexpr auto kWords<FlopConvention> = std::to_array<std::string_view>(
    {"megatron-lm", "bloom-before-02-21", "bloom-from-02-21", "palm"});

// Batch-size ramp-up: the global batch starts at `start` and grows by `increment` over `samples` samples.
struct RampUp {
    int start = 0, increment = 0;
    double samples = 0;
};

struct FsdpSettings {
    int layers_per_unit = 1;
    bool reshard_after_forward = true;
    bool prefetch = true;
    bool each_micro_batch = false; // in a pipeline too: gathered, freed and reduced for each, not once a step
};

// Over which tokens a balance loss counts how often an expert was chosen: those of each sequence (DeepSeek-V3,
// arXiv:2412.19437, equations 17 to 20), or of a micro-batch of all replicas together.
enum class Balance { sequence, micro_batch };
template <>
inline constexpr auto kWords<Balance> = std::to_array<std::string_view>({"sequence", "micro-batch"});
// Which tokens share the places of an expert with a capacity.
enum class CapacityOf { sequence, rank };
template <>
inline constexpr auto kWords<CapacityOf> = std::to_array<std::string_view>({"sequence", "rank"});

struct ExpertSettings {
    Balance balance = Balance::sequence;
    double capacity = 0; // places of an expert, as a multiple of the mean; 0: no token is dropped
    CapacityOf capacity_of = CapacityOf::sequence;
};

struct OverlapSettings {
    bool grad_reduce = true, param_gather = true, p2p = true;
    bool expert_exchange = false; // dispatch and combine behind the work of another micro-batch, as DualPipe does
    bool tensor_parallel = false; // what asynchronous TP still waits for, behind that too
};

struct Training {
    int seq_len = 0; // tokens
    int micro_batch = 1; // sequences per rank and pipeline slot
    int global_batch = 1; // sequences per step over the whole job
    int micro_batches = 1; // per step and pipeline: global_batch / (micro_batch * dp)
    std::optional<RampUp> ramp_up;
    Schedule schedule = kPlainSchedule;
    std::string schedule_csv; // name of the schedule file; empty without one
    Sharding sharding = Sharding::none;
    Recompute recompute = Recompute::none;
    std::optional<int> recompute_layers; // layers per stage that recompute; empty = all
    int recompute_every = 1; // of a stage's layers, every so many
    WordSet<RecomputePart> recompute_parts{RecomputePart::core_attention}; // of selective recomputation
    Precision precision = Precision::bf16;
    Fp8Recipe fp8_recipe = Fp8Recipe::tensorwise; // of fp8 products
    Fp8ScaleGroup fp8_scale_group = Fp8ScaleGroup::micro_batch;
    MxRounding mx_rounding = MxRounding::floor;
    Precision grad_dtype = Precision::fp32; // dtype in which gradients are accumulated and reduced
    Precision optimizer_state_dtype = Precision::fp32;
    Optimizer optimizer = Optimizer::adamw;
    bool optimizer_in_backward = false; // each parameter's update when its gradient is final, which is then freed
    Offload offload = Offload::none;
    std::optional<int> offload_layers; // first layers per stage whose activations leave; empty = all
    bool sequence_parallel = true;
    bool compile = false;
    bool async_tp = false;
    AttentionKernel attention = AttentionKernel::flash2;
    CpMethod cp_method = CpMethod::ring;
    FsdpSettings fsdp;
    OverlapSettings overlap;
    ExpertSettings experts;
    FlopConvention flop_convention = FlopConvention::palm;
};

// Of `layers` layers from number `first` on, counted over all chunks of a stage, those that recompute.
int recomputed_layers(const Training& training, int first, int layers);
// Likewise those whose activations go to the host's memory.
int offloaded_layers(const Training& training, int first, int layers);

std::string schedule_name(const Training& training); // as written in a plan: the schedule, or its file

// A schedule's word is a column of its table; a schedule file is written by its own name, not by a word.
template <>
std::vector<std::string> spellings<Schedule>();

double bytes_per_element(Precision precision); // 4, 2, 2, 1

} // namespace fourfold
