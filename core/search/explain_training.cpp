// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/explain_training.h"

#include "core/base/text.h"

#include <cmath>

namespace fourfold {
namespace {

constexpr const char* kDaly = "Daly 2006, doi:10.1016/j.future.2004.11.016";

// The trees share their branches: each figure is made of those before it.
class TrainingTrees {
public:
    TrainingTrees(const Prediction& prediction, const TrainingBudget& budget)
        : prediction_(prediction)
        , plan_(prediction.plan)
        , budget_(budget)
    {
        if (prediction.step_time_s)
            known_ = economics_of(plan_, *prediction.step_time_s, budget);
    }

    [[nodiscard]] Explanation tokens() const
    {
        Explanation node = leaf("tokens", budget_.tokens, "tokens", "");
        switch (budget_.tokens_from) {
        case TokensFrom::person:
            node.source = "given";
            break;
        case TokensFrom::plan:
            node.source = "plan: run.tokens";
            break;
        case TokensFrom::parameters:
            node.formula = text_of("%.0f tokens * %.4g parameters", kTokensPerParameter, plan_.model.parameters());
            node.source = "none is given: Hoffmann et al. 2022, arXiv:2203.15556, table 3";
        }
        return node;
    }
    [[nodiscard]] Explanation days() const
    {
        Explanation node = leaf("days", known_.days, "days", "definition");
        node.formula = text_of("tokens / tokens of a step * step time / 86400 = %.4g / %.4g * %.4g s / 86400",
            budget_.tokens, plan_.tokens_per_step(), step_s());
        node.children = {tokens(), leaf("tokens of a step", plan_.tokens_per_step(), "tokens", "plan"), step()};
        return or_lacking(std::move(node), 0, "");
    }
    [[nodiscard]] Explanation gpu_hours() const
    {
        Explanation node = leaf("GPU hours", known_.gpu_hours, "h", "definition");
        node.formula = text_of("days * 24 * GPUs = %.4g * 24 * %d", known_.days, plan_.gpus);
        node.children = {days(), leaf("GPUs", plan_.gpus, "", "plan")};
        return or_lacking(std::move(node), 0, "");
    }
    [[nodiscard]] Explanation cost() const
    {
        Explanation node = leaf("cost", known_.cost, "money", "definition");
        node.formula = text_of("GPU hours * price = %.4g * %.4g", known_.gpu_hours, budget_.price_per_gpu_hour);
        node.children = {gpu_hours(), leaf("price of a GPU hour", budget_.price_per_gpu_hour, "money", kAsked)};
        return or_lacking(std::move(node), budget_.price_per_gpu_hour, "the price of a GPU hour");
    }
    [[nodiscard]] Explanation energy() const
    {
        const double watts = budget_.power_w(plan_.cluster.gpu);
        Explanation node = leaf("energy", known_.energy_mwh, "MWh", "definition");
        node.formula = text_of("GPU hours * power * facility factor / 10^6 = %.4g * %.4g W * %.4g / 10^6",
            known_.gpu_hours, watts, budget_.facility_factor);
        const bool rated = std::isnan(budget_.gpu_power_w);
        node.children = {gpu_hours(),
            leaf(rated ? "rated power of a GPU" : "power of a GPU", watts, "W",
                rated ? "data sheet of " + plan_.cluster.gpu.name : kAsked),
            leaf("energy of the site over that of its GPUs", budget_.facility_factor, "", kAsked)};
        return or_lacking(std::move(node), watts, "the power of the GPU");
    }
    [[nodiscard]] Explanation checkpoint() const
    {
        Explanation node = leaf("checkpoint", known_.checkpoint_bytes / 1e9, "GB", "definition");
        node.formula = text_of("parameters * bytes of each = %.4g * %g / 10^9; weights, fp32 masters and the "
                               "optimizer's states",
            plan_.model.parameters(), checkpoint_bytes_per_parameter(plan_));
        return node;
    }
    [[nodiscard]] Explanation write() const
    {
        Explanation node = leaf("time to write a checkpoint", known_.checkpoint_s, "s", "definition");
        node.formula = text_of(
            "checkpoint / storage = %.4g GB / %.4g GB/s", known_.checkpoint_bytes / 1e9, budget_.storage_gb_s);
        node.children = {checkpoint(), leaf("speed of the storage", budget_.storage_gb_s, "GB/s", kAsked)};
        return or_lacking(std::move(node), budget_.storage_gb_s, "the speed of the storage");
    }
    [[nodiscard]] Explanation mtbf() const
    {
        Explanation node = leaf("mean time between interruptions of the job", known_.mtbf_hours, "h",
            "independent of each other: their rates add up");
        std::string rates;
        const auto add = [&](double rate, int count, const char* of) {
            if (std::isnan(rate))
                return;
            rates += text_of("%s%d %s / %.4g h", rates.empty() ? "" : " + ", count, of, 1 / rate);
            node.children.push_back(
                leaf(std::string("mean time between interruptions by one of the ") + of, 1 / rate, "h", kAsked));
        };
        add(budget_.failures_per_gpu_hour, plan_.gpus, "GPUs");
        add(budget_.failures_per_node_hour, plan_.nodes(), "nodes");
        node.formula = "1 / (" + rates + ")";
        return or_lacking(
            std::move(node), budget_.failures_per_hour(plan_), "how often a GPU or a node interrupts the job");
    }
    [[nodiscard]] Explanation interval() const
    {
        Explanation node = leaf("training between two checkpoints", known_.interval_s, "s",
            std::string(kDaly) + ", equation 37, as whole steps");
        const double mtbf_s = known_.mtbf_hours * 3600;
        node.formula = text_of("sqrt(2 w M) (1 + sqrt(w / 2M) / 3 + w / 18M) - w with w = %.4g s to write, M = %.4g s "
                               "between interruptions: %.4g s, nearest to %.0f steps of %.4g s",
            known_.checkpoint_s, mtbf_s, daly_interval_s(known_.checkpoint_s, mtbf_s), known_.interval_steps, step_s());
        Explanation young = leaf("first order: sqrt(2 w M)", known_.young_s, "s",
            "Young 1974, doi:10.1145/361147.361115; the figures take Daly's");
        node.children = {write(), mtbf(), step(), std::move(young)};
        return lacking_failures(std::move(node));
    }
    [[nodiscard]] Explanation goodput() const
    {
        Explanation node = leaf("goodput", known_.goodput, "ratio", std::string(kDaly) + ", equation 20");
        node.formula
            = text_of("1 / (M / t * exp(R / M) * (exp((t + w) / M) - 1)) with M = %.4g s between "
                      "interruptions, t = %.4g s between checkpoints, w = %.4g s to write, R = %.4g s to restart",
                known_.mtbf_hours * 3600, known_.interval_s, known_.checkpoint_s, budget_.restart_s);
        node.children = {interval(), leaf("restart", budget_.restart_s, "s", kAsked)};
        return lacking_failures(std::move(node));
    }
    [[nodiscard]] Explanation failures() const
    {
        Explanation node = leaf("expected interruptions", known_.failures, "", "definition");
        node.formula = text_of("days with failures * 24 / hours between interruptions = %.4g * 24 / %.4g",
            known_.expected_days, known_.mtbf_hours);
        node.children = {expected("days", known_.expected_days, "days", days()), mtbf()};
        return lacking_failures(std::move(node));
    }
    // With failures and checkpoints.
    [[nodiscard]] Explanation expected(
        const std::string& what, double value, const std::string& unit, Explanation without) const
    {
        Explanation node = leaf(what + " with failures and checkpoints", value, unit, "definition");
        node.formula = text_of("%s / goodput = %.4g / %.4g", what.c_str(),
            without.value.value_or(TrainingBudget::kUnknown), known_.goodput);
        node.children = {std::move(without), goodput()};
        return lacking_failures(std::move(node));
    }
    [[nodiscard]] const Economics& known() const { return known_; }

private:
    static constexpr const char* kAsked = "budget of the plan or option";
    static constexpr const char* kNoStep = "not known: the plan has no step time";

    static Explanation leaf(std::string label, double value, std::string unit, std::string source)
    {
        Explanation node;
        node.label = std::move(label);
        if (std::isfinite(value))
            node.value = value;
        node.unit = std::move(unit);
        node.source = std::move(source);
        return node;
    }
    // A formula of figures that are not known would be one of nan.
    static Explanation or_lacking(Explanation node, double needed, const std::string& name)
    {
        if (!node.value)
            node.formula = std::isnan(needed) ? "not known without " + name : std::string(kNoStep);
        return node;
    }
    [[nodiscard]] Explanation lacking_failures(Explanation node) const
    {
        std::string lacking;
        if (!budget_.knows_failures())
            lacking = "how often a GPU or a node interrupts the job";
        if (std::isnan(budget_.storage_gb_s))
            lacking += std::string(lacking.empty() ? "" : " and ") + "the speed of the storage";
        if (!node.value)
            node.formula = !prediction_.step_time_s ? kNoStep
                : lacking.empty()                   ? "never ends: it fails more often than it saves"
                                                    : "not known without " + lacking;
        return node;
    }
    [[nodiscard]] double step_s() const { return prediction_.step_time_s.value_or(TrainingBudget::kUnknown); }
    [[nodiscard]] Explanation step() const
    {
        Expected<Explanation> tree = explain(prediction_, "step_time_s");
        return tree ? *std::move(tree) : leaf("step time", step_s(), "s", "");
    }

    const Prediction& prediction_;
    const ResolvedPlan& plan_;
    const TrainingBudget& budget_;
    Economics known_ = nothing_known();

    static Economics nothing_known()
    {
        constexpr double kNone = TrainingBudget::kUnknown;
        Economics none;
        for (double* figure :
            {&none.days, &none.gpu_hours, &none.energy_mwh, &none.cost, &none.checkpoint_bytes, &none.checkpoint_s,
                &none.mtbf_hours, &none.young_s, &none.interval_s, &none.interval_steps, &none.failures, &none.goodput,
                &none.expected_days, &none.expected_gpu_hours, &none.expected_energy_mwh, &none.expected_cost})
            *figure = kNone;
        return none;
    }
};

struct TrainingTree {
    const char* key;
    Explanation (*explain)(const TrainingTrees& trees);
};

constexpr TrainingTree kTrainingTrees[]{{"tokens", [](const TrainingTrees& t) { return t.tokens(); }},
    {"days", [](const TrainingTrees& t) { return t.days(); }},
    {"gpu_hours", [](const TrainingTrees& t) { return t.gpu_hours(); }},
    {"cost", [](const TrainingTrees& t) { return t.cost(); }},
    {"energy_mwh", [](const TrainingTrees& t) { return t.energy(); }},
    {"goodput", [](const TrainingTrees& t) { return t.goodput(); }},
    {"failures", [](const TrainingTrees& t) { return t.failures(); }},
    {"mtbf_hours", [](const TrainingTrees& t) { return t.mtbf(); }},
    {"checkpoint_bytes", [](const TrainingTrees& t) { return t.checkpoint(); }},
    {"checkpoint_s", [](const TrainingTrees& t) { return t.write(); }},
    {"checkpoint_interval_s", [](const TrainingTrees& t) { return t.interval(); }},
    {"expected_days",
        [](const TrainingTrees& t) { return t.expected("days", t.known().expected_days, "days", t.days()); }},
    {"expected_gpu_hours",
        [](const TrainingTrees& t) {
            return t.expected("GPU hours", t.known().expected_gpu_hours, "h", t.gpu_hours());
        }},
    {"expected_cost",
        [](const TrainingTrees& t) { return t.expected("cost", t.known().expected_cost, "money", t.cost()); }},
    {"expected_energy_mwh",
        [](const TrainingTrees& t) { return t.expected("energy", t.known().expected_energy_mwh, "MWh", t.energy()); }}};

} // namespace

const std::vector<std::string>& training_figures()
{
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> list;
        for (const TrainingTree& figure : kTrainingTrees)
            list.emplace_back(figure.key);
        return list;
    }();
    return keys;
}

Expected<Explanation> explain_training(
    const Prediction& prediction, const TrainingBudget& budget, const std::string& figure)
{
    const TrainingTrees trees(prediction, budget);
    for (const TrainingTree& one : kTrainingTrees) {
        if (one.key == figure)
            return one.explain(trees);
    }
    return Problem{ProblemCode::bad_input,
        "there is no figure of this name, expected one of " + joined(training_figures(), ", "), "", figure};
}

Json training_explanation_json(const Prediction& prediction, const TrainingBudget& budget)
{
    const TrainingTrees trees(prediction, budget);
    Json json = Json::object();
    for (const TrainingTree& figure : kTrainingTrees)
        json[figure.key] = to_json(figure.explain(trees));
    return json;
}

} // namespace fourfold
