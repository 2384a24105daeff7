// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/refit/ablation.h"
#include "core/calibration/refit/folds.h"
#include "core/calibration/refit/report_file.h"
#include "core/cost/context.h"

#include <cmath>
#include <cstdio>

namespace fourfold {
namespace {

// A constant, and the value at which the term that it scales is gone.
struct Term {
    const char* constant;
    double off;
    const char* what;
    bool memory = false;
};
constexpr double kFree = 1e4; // an efficiency at which work takes no time

constexpr Term kTerms[] = {
    {"sustained_clock", 1, "clock under sustained load"},
    {"gemm_half_k", 0, "saturation of products in K"},
    {"elementwise_efficiency", kFree, "elementwise traffic (eager)"},
    {"elementwise_efficiency_compiled", kFree, "elementwise traffic (compiled)"},
    {"attention_context_loss", 0, "loss of attention cut by CP"},
    {"batched_gemm_efficiency", kFree, "products of unfused attention"},
    {"softmax_passes", 0, "traffic of the score matrix"},
    {"head_dim_128_efficiency", 0, "slow products at head dimension 128"},
    {"cross_entropy_bytes", 0, "traffic of the loss"},
    {"gradient_accumulation_bytes", 0, "fp32 gradient accumulation"},
    {"fp8_gain", 1, "gain of fp8"},
    {"fp8_cast_bytes", 0, "casts to fp8"},
    {"expert_product_scale", 1, "loss of experts' products"},
    {"expert_fp8_share", 1, "experts' lesser gain of fp8"},
    {"expert_send_once", 0, "tokens sent once to a node"},
    {"intra_node_efficiency", kFree, "traffic inside a node"},
    {"inter_node_efficiency", kFree, "traffic between nodes"},
    {"inter_node_decay", 0, "network slower over more nodes"},
    {"collective_latency_s", 0, "start of collectives"},
    {"gradient_latency_s", 0, "start of gradient reductions"},
    {"tp_exposed", 1, "TP collectives that hide"},
    {"async_tp_exposed", 1, "overlap of asynchronous TP"},
    {"weight_gather_exposed", 0, "repeated gather of sequence parallelism"},
    {"tp_sync_s", 0, "wait of TP all-reduces"},
    {"cp_step_s", 0, "fixed cost of a ring step"},
    {"pipeline_transfer_scale", 0, "pipeline transfers"},
    {"interleaved_transfer_scale", 1, "hops of virtual stages beside work"},
    {"pipeline_latency_s", 0, "fixed cost of a pipeline hop"},
    {"gradient_scale", 0, "gradient reduction and parameter gather"},
    {"gradient_overlap", 0, "overlap of gradient reduction"},
    {"fsdp_exposed_floor", 0, "FSDP traffic that never hides"},
    {"fsdp_pipeline_scale", 0, "FSDP traffic under PP"},
    {"layer_floor_forward_s", 0, "launch floor, forward"},
    {"layer_floor_backward_s", 0, "launch floor, backward"},
    {"layer_floor_tp_s", 0, "launch floor with TP"},
    {"layer_floor_expert_s", 0, "launch floor of experts"},
    {"layer_floor_pipeline_s", 0, "launch floor with PP over nodes"},
    {"micro_batch_overhead_s", 0, "fixed cost of a micro-batch"},
    {"replica_jitter_s", 0, "wait for the slowest of many ranks"},
    {"replica_slowdown", 0, "stragglers, per GPUs / TP"},
    {"straggler_spread", 0, "slowest of many GPUs"},
    {"overlap_slowdown", 0, "compute slowed by hidden collectives"},
    {"wide_replica_slowdown", 0, "replica larger than a node with PP"},
    {"step_overhead_s", 0, "fixed cost of a step"},
    {"optimizer_efficiency", kFree, "optimizer traffic"},
    {"activation_gathered_factor", 0, "kept gathered inputs of TP", true},
    {"logits_memory_bytes", 0, "logits at the loss", true},
    {"context_memory_gib", 0, "device context", true},
    {"framework_memory_gib", 0, "library workspaces", true},
    {"fragmentation", 1, "fragmentation", true},
    {"eager_activation_factor", 1, "more activations in eager mode", true},
    {"pipeline_gradient_bytes", 0, "unsharded gradients under PP", true},
};

Stack without(Stack stack, const Term& term)
{
    stack.constants[term.constant] = term.off;
    for (auto& [gpu, constants] : stack.gpu_constants)
        constants.erase(term.constant);
    return stack;
}

double measure(const Score& score, bool memory)
{
    return memory ? score.memory_mape : score.mape;
}

} // namespace

Expected<void> ablate(const Corpus& corpus, const FitSet& set, const Stack& full, const FitOptions& options,
    const std::filesystem::path& report)
{
    const RowSplit split = corpus.splits.front();
    const auto left_out = [&](const FitOptions& with) -> Expected<Score> {
        FOURFOLD_TRY(const LeftOut folds, fit_left_out(corpus, set, full, split, with));
        return score_of(corpus, folds.predictions);
    };
    const Score whole = score_of(corpus, predict_all(corpus, full, options.threads));
    FOURFOLD_TRY(const Score unseen, left_out(options));
    std::string table = text_of("\n### %s: a term removed, the rest fitted again\n\n", corpus.id.c_str());
    table += "| term removed | constant | all rows | not fitted again | fitted again | left out by "
        + std::string(name(split)) + " | without the term |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Term& term : kTerms) {
        if (term.memory && whole.memory_rows == 0)
            continue;
        const Score raw = score_of(corpus, predict_all(corpus, without(full, term), options.threads));
        const double before = measure(whole, term.memory), pulled = measure(raw, term.memory);
        if (std::abs(pulled - before) < 1e-4)
            continue; // these rows do not know the term
        FitOptions pinned = options;
        pinned.pinned = {{term.constant, term.off}};
        pinned.quantities = {term.memory ? Quantity::memory : Quantity::time};
        FOURFOLD_TRY(const FitResult fit, fit_stack(full, set, corpus.rows, pinned));
        const Score again = score_of(corpus, predict_all(corpus, fit.stack, options.threads));
        FOURFOLD_TRY(const Score unseen_again, left_out(pinned));
        const std::string line = text_of("| %s%s | `%s` | %.2f %% | %.2f %% | %.2f %% | %.2f %% | %.2f %% |\n",
            term.what, term.memory ? " (memory)" : "", term.constant, 100 * before, 100 * pulled,
            100 * measure(again, term.memory), 100 * measure(unseen, term.memory),
            100 * measure(unseen_again, term.memory));
        std::printf("  %s", line.c_str());
        std::fflush(stdout);
        table += line;
    }
    return append_report(report, table);
}

} // namespace fourfold
