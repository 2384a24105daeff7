// SPDX-License-Identifier: GPL-3.0-or-later
// A software stack: fitted constants, conventions and defaults. Data only, read from presets/stacks/*.json.
#pragma once

#include "core/base/json.h"
#include "core/layout/layout.h"
#include "core/layout/training.h"
#include "core/stack/domain.h"
#include "core/stack/fit_set.h"
#include "core/stack/release.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// What the stack's memory column means.
enum class MemoryConvention { peak_allocated, peak_reserved, device };
template <>
inline constexpr auto kWords<MemoryConvention> = std::to_array<std::string_view>(
    {"peak_allocated", "peak_reserved", "device"});

// How the stack spreads layers over pipeline stages when a plan does not say: core/plan/stage_layers.h.
enum class StageSplit { even, equal, middle, cost };
template <>
inline constexpr auto kWords<StageSplit> = std::to_array<std::string_view>({"even", "equal", "middle", "cost"});

// What the stack refuses or breaks on when pp is above 1.
struct PipelineRules {
    bool fill_warm_up = false; // crashes with fewer than pp - 1 micro-batches
    bool fill_1f1b = false; // its 1F1B stops with fewer than pp micro-batches
    bool shard_only_optimizer = false; // refuses to shard gradients or parameters
    bool operator==(const PipelineRules&) const = default;
};

// The shipped preset that a user's calibrated one was made from.
struct PresetBase {
    std::string id, sha256; // of its file at that time
    bool changed = false; // since then: set by Presets::stack
};

struct Stack {
    std::string id, name;
    MemoryConvention memory_convention = MemoryConvention::peak_reserved;
    int memory_stage = -1; // the stage whose memory is published; -1 = the largest
    StageSplit stage_split = StageSplit::even;
    PipelineRules pipeline_rules;
    int vocab_multiple = 128; // vocabulary is padded to this times tp
    std::array<Dimension, 4> order{Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp};
    // The same of models with experts, where it differs: who sends tokens to whom is carved out of tp, cp and dp.
    std::optional<std::array<Dimension, 4>> expert_order;
    Json training_defaults; // values for the keys of `training` that a plan leaves out
    // The attention kernel in place of theirs on GPUs of a generation that has a better one.
    std::map<std::string, AttentionKernel> attention_by_generation;

    // Fitted constants by documented name (core/stack/constants.h); `gpu_constants[gpu id]` override `constants`.
    std::map<std::string, double> constants;
    std::map<std::string, std::map<std::string, double>> gpu_constants;
    // Which of them are fitted, with their priors: see core/calibration.
    std::vector<FitSet> fit;
    // What those measurements cover, by GPU id: `measured` of the preset.
    MeasuredDomains measured;
    std::optional<PresetBase> base;
    std::vector<Release> releases; // that are known, from the oldest to the newest
    // The one that a plan means, as it names it; empty: none, and the constants are those of all of them together.
    std::string release;
    // Takes over what was fitted to that release alone; of one that is not known, to the nearest.
    void use_release(const std::string& named);
    [[nodiscard]] std::string written() const; // as a plan names it: "megatron-core", "megatron-core@25.11"
    [[nodiscard]] std::string full_name() const; // for people
    // Was the release that the plan means measured on the GPU? Yes where it means none.
    [[nodiscard]] bool release_measured(const std::string& gpu_id) const;
    // "release 25.07 of stack megatron-core is not known: predicted as ..."; empty of one that is known, or none.
    [[nodiscard]] std::string unknown_release() const;
    // GPU ids whose constants were fitted to measurements: evidence "calibrated", others "extrapolated".
    [[nodiscard]] bool calibrated_for(const std::string& gpu_id) const { return gpu_constants.contains(gpu_id); }
    // The constant for a GPU: its own, else the stack's, else `fallback`.
    [[nodiscard]] double constant(const std::string& name, const std::string& gpu_id, double fallback) const;
    [[nodiscard]] std::optional<double> said_constant(const std::string& name, const std::string& gpu_id) const;
    // Was this kernel among what was measured on the GPU? Yes where nothing is said of kernels.
    [[nodiscard]] bool measured_with(const std::string& gpu_id, AttentionKernel kernel) const;
    // The GPU of the same generation that was measured with this kernel most often; "" where there is none. What the
    // chip does is alike on both, links and hosts need not be.
    [[nodiscard]] std::string relative_of(const std::string& generation, AttentionKernel kernel) const;
};

Expected<Stack> stack_from_json(const Json& json, const std::string& where);
Json to_json(const Stack& stack);

} // namespace fourfold
