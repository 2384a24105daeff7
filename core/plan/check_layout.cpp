// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of the mesh: degrees, tensor, context and expert parallelism.
#include "core/base/text.h"
#include "core/plan/check_rules.h"
#include "core/schedule/schedules.h"

#include <algorithm>

namespace fourfold {

namespace {
constexpr int kUsualLength = 128; // sequences of people's choice are multiples of it

// The key and value heads must split evenly over tp, or be copied evenly (tp a multiple of them). Latent attention
// expands its keys and values to every query head.
bool kv_heads_split(const ModelShape& model, int tp)
{
    if (model.latent || model.kv_heads <= 0)
        return true;
    return model.kv_heads % tp == 0 || tp % model.kv_heads == 0;
}

bool has_dense_mlp(const ModelShape& model)
{
    return model.moe_layers() < model.layers;
}

bool tp_fits(const ResolvedPlan& plan, int tp)
{
    const ModelShape& model = plan.model;
    // A sequence that already fails the rule of cp fits no tp: that is another reason.
    const bool sequence
        = !sequence_splits(plan.training, 1, plan.layout.cp) || sequence_splits(plan.training, tp, plan.layout.cp);
    return model.heads % tp == 0 && kv_heads_split(model, tp) && (!has_dense_mlp(model) || model.ffn % tp == 0)
        && sequence;
}

Json nearest_tp(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    return nearest_value(
        layout.tp, std::min(plan.model.heads, 1 << 20), [&](int tp) { return tp_fits(plan, tp); },
        [&](int tp) { return int64_t(plan.gpus) % (int64_t(tp) * layout.cp * layout.pp) == 0; });
}

struct Hiding {
    const char *code, *field;
    std::string what;
};

// What is to hide behind passes over other micro-batches: that it is there, and that the schedule puts some beside it.
// `nothing`: why it is not there; empty: it is.
void check_beside(const ResolvedPlan& plan, const Hiding& hiding, const std::string& nothing, Reasons& reasons)
{
    const Schedule schedule = plan.training.schedule;
    const auto refuse_if = [&](bool condition, const std::string& rule) {
        if (condition)
            reasons.add(hiding.code, hiding.field, rule, false);
        return condition;
    };
    std::vector<std::string> others;
    for (const ScheduleTraits& other : schedules())
        if (other.hides_exchanges)
            others.emplace_back(other.name);
    if (refuse_if(!nothing.empty(), nothing)
        || refuse_if(plan.layout.pp > 1 && !traits_of(schedule).hides_exchanges,
            "schedule " + to_text(schedule) + " puts no forward beside a backward, " + joined(others, " or ")
                + " does"))
        return;
    refuse_if(plan.training.micro_batches < 2, hiding.what + " hides behind another micro-batch, and there is one");
}
} // namespace

void check_degrees(const ResolvedPlan& plan, Reasons& reasons)
{
    const Layout& layout = plan.layout;
    if (layout.gpus() != plan.gpus) {
        const int inner = layout.tp * layout.cp * layout.pp;
        const std::string rule = "tp " + number(layout.tp) + " x cp " + number(layout.cp) + " x pp " + number(layout.pp)
            + " x dp " + number(layout.dp) + " = " + number(layout.gpus()) + ", but gpus is " + number(plan.gpus);
        // A degree that the model does not split by is what was meant to be another one, not the number of GPUs.
        const Json tp = tp_fits(plan, layout.tp) ? Json() : nearest_tp(plan);
        const bool tp_helps = !tp.is_null() && plan.gpus % (tp.get<int>() * layout.cp * layout.pp) == 0;
        if (plan.gpus % inner == 0)
            reasons.add("degrees_do_not_multiply", "layout.dp", rule, plan.gpus / inner);
        else if (tp_helps)
            reasons.add("degrees_do_not_multiply", "layout.tp", rule, tp);
        else
            reasons.add("degrees_do_not_multiply", "gpus", rule, layout.gpus());
    }

    const int ranks = layout.dp * layout.cp;
    if (plan.training.sharding != Sharding::hybrid) {
        if (layout.dp_shard != ranks)
            reasons.add("dp_shard_without_hybrid", "layout.dp_shard",
                "dp_shard " + number(layout.dp_shard) + " needs sharding hybrid; sharding "
                    + to_text(plan.training.sharding) + " uses all dp x cp = " + number(ranks) + " ranks",
                ranks);
    } else if (ranks % layout.dp_shard != 0) {
        reasons.add("dp_shard_not_divisible", "layout.dp_shard",
            "dp_shard " + number(layout.dp_shard) + " does not divide dp x cp = " + number(ranks),
            nearest_value(layout.dp_shard, ranks, [&](int shard) { return ranks % shard == 0; }));
    }
}

void check_tensor_parallel(const ResolvedPlan& plan, Reasons& reasons)
{
    const ModelShape& model = plan.model;
    const int tp = plan.layout.tp;
    const std::string degree = "tp " + number(tp);
    if (model.heads % tp != 0)
        reasons.add("heads_not_divisible", "layout.tp",
            degree + " does not divide the " + number(model.heads) + " attention heads", nearest_tp(plan));
    if (!kv_heads_split(model, tp))
        reasons.add("kv_heads_not_divisible", "layout.tp",
            degree + " neither divides the " + number(model.kv_heads) + " key/value heads nor is a multiple of them",
            nearest_tp(plan));
    if (has_dense_mlp(model) && model.ffn % tp != 0)
        reasons.add("ffn_not_divisible", "layout.tp",
            degree + " does not divide the MLP's hidden size " + number(model.ffn), nearest_tp(plan));
    const Training& training = plan.training;
    if (training.async_tp && tp > 1 && !training.sequence_parallel)
        reasons.add("async_tp_without_sequence_parallel", "training.async_tp",
            "async_tp overlaps the gathers of sequence parallelism, which is off", false);
    if (training.overlap.tensor_parallel) {
        const std::string nothing = tp == 1 ? "there is nothing to hide, tp is 1"
            : training.async_tp             ? ""
                                            : "async_tp is off, and plain tensor parallelism waits for what it asks";
        check_beside(
            plan, {"tensor_parallel_beside", "training.overlap.tensor_parallel", "asynchronous TP"}, nothing, reasons);
    }
}

bool sequence_splits(const Training& training, int tp, int cp)
{
    const int64_t seq_len = training.seq_len;
    // Causal balance: each rank takes one chunk from the front and one from the back (Llama 3 paper, 3.3.2).
    // Ulysses exchanges heads instead and only needs equal parts.
    const int64_t parts = cp > 1 ? int64_t(cp) * (training.cp_method == CpMethod::ulysses ? 1 : 2) : 1;
    if (seq_len % parts != 0)
        return false;
    return !training.sequence_parallel || tp == 1 || seq_len / cp % tp == 0;
}

void check_sequence(const ResolvedPlan& plan, Reasons& reasons)
{
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    const auto gpus_divide = [&](int cp) { return int64_t(plan.gpus) % (int64_t(layout.tp) * cp * layout.pp) == 0; };
    const bool ulysses = training.cp_method == CpMethod::ulysses;
    const auto heads_split
        = [&](int cp) { return !ulysses || cp == 1 || int64_t(plan.model.heads) % (int64_t(layout.tp) * cp) == 0; };
    const auto cp_fits = [&](int cp) {
        return sequence_splits(training, layout.tp, cp) && sequence_splits(training, 1, cp) && heads_split(cp);
    };

    if (!sequence_splits(training, 1, layout.cp)) {
        reasons.add("sequence_not_divisible_by_cp", "layout.cp",
            "cp " + number(layout.cp) + " splits a sequence into "
                + number(ulysses ? layout.cp : 2 * int64_t(layout.cp)) + " equal parts, but seq_len is "
                + number(training.seq_len),
            nearest_value(layout.cp, std::min(training.seq_len, 1 << 20), cp_fits, gpus_divide));
    } else if (!sequence_splits(training, layout.tp, layout.cp)) {
        const std::string rule = "sequence parallelism needs tp " + number(layout.tp)
            + " to divide seq_len / cp = " + number(training.seq_len / layout.cp);
        // Of a length that people use the degree is the odd one.
        const Json tp = training.seq_len % kUsualLength == 0 ? nearest_tp(plan) : Json();
        const int64_t step = int64_t(layout.tp) * layout.cp * (layout.cp > 1 && !ulysses ? 2 : 1);
        const int64_t lower = training.seq_len / step * step, higher = lower + step;
        const bool take_lower = lower > 0 && training.seq_len - lower <= higher - training.seq_len;
        if (tp.is_null())
            reasons.add("sequence_not_divisible_by_tp", "training.seq_len", rule, take_lower ? lower : higher);
        else
            reasons.add("sequence_not_divisible_by_tp", "layout.tp", rule, tp);
    }
    if (layout.cp > 1 && plan.model.heads % layout.tp == 0 && !heads_split(layout.cp))
        reasons.add("heads_not_divisible_by_cp", "layout.cp",
            "cp_method ulysses needs tp x cp = " + number(int64_t(layout.tp) * layout.cp) + " to divide the "
                + number(plan.model.heads) + " attention heads",
            nearest_value(layout.cp, std::min(plan.model.heads, 1 << 20), cp_fits, gpus_divide));
}

void check_experts(const ResolvedPlan& plan, Reasons& reasons)
{
    if (plan.training.overlap.expert_exchange) {
        const bool none = !plan.model.experts || plan.layout.ep <= 1;
        check_beside(plan, {"expert_exchange", "training.overlap.expert_exchange", "the exchange"},
            none ? "there is no exchange of tokens to hide, ep is 1" : "", reasons);
    }
    const Layout& layout = plan.layout;
    const int ranks = layout.tp * layout.cp * layout.dp;
    const auto& experts = plan.model.experts;
    if (!experts) {
        const auto refuse = [&](const char* field, const std::string& degree) {
            reasons.add("expert_parallel_without_experts", field,
                degree + " needs a mixture of experts, " + plan.model.name + " has none", 1);
        };
        if (layout.ep > 1)
            refuse("layout.ep", "ep " + number(layout.ep));
        if (layout.etp != 1 && layout.etp != layout.tp) // which nobody has to write, and everybody may
            refuse("layout.etp", "etp " + number(layout.etp));
        return;
    }
    const auto etp_fits = [&](int etp) { return experts->ffn % etp == 0 && ranks % etp == 0; };
    if (!etp_fits(layout.etp)) {
        const bool ffn = experts->ffn % layout.etp != 0;
        reasons.add(ffn ? "expert_ffn_not_divisible" : "expert_degrees_not_divisible", "layout.etp",
            "etp " + number(layout.etp) + " does not divide "
                + (ffn ? "the experts' hidden size " + number(experts->ffn) : "tp x cp x dp = " + number(ranks)),
            nearest_value(
                layout.etp, ranks, etp_fits, [&](int etp) { return ranks % (int64_t(etp) * layout.ep) == 0; }));
        return; // what ep may be depends on it
    }
    const auto ep_fits = [&](int ep) { return experts->count % ep == 0 && ranks % (int64_t(ep) * layout.etp) == 0; };
    if (!ep_fits(layout.ep)) {
        const bool count = experts->count % layout.ep != 0;
        reasons.add(count ? "experts_not_divisible" : "expert_degrees_not_divisible", "layout.ep",
            count ? "ep " + number(layout.ep) + " does not divide the " + number(experts->count) + " experts"
                  : "ep x etp = " + number(int64_t(layout.ep) * layout.etp)
                    + " does not divide tp x cp x dp = " + number(ranks),
            nearest_value(layout.ep, ranks, ep_fits));
    }
}

} // namespace fourfold
