// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"
#include "core/plan/bound_fields.h"
#include "core/plan/graphed_layers.h"
#include "core/plan/resolve.h"

namespace fourfold {

namespace {
Expected<void> check_data(const std::vector<DataSource>& sources, const std::string& where, const std::string& path)
{
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const DataSource& source = sources[i];
        const std::string at = path + "." + std::to_string(i);
        if (source.path.empty())
            return Problem{
                ProblemCode::bad_input, "missing, expected the name of a data file", "", at_field(where, at + ".path")};
        if (!(source.begin < source.end))
            return Problem{ProblemCode::bad_input,
                "found " + Json::array({source.begin, source.end}).dump() + ", expected begin below end", "",
                at_field(where, at + ".range")};
    }
    return {};
}

Expected<void> check_graphs_variable(const RunSettings& run, const std::string& where)
{
    const auto found = run.environment.find(std::string(kGraphsVariable));
    if (found == run.environment.end() || found->second.empty() || found->second == "0" || found->second == "1")
        return {};
    return Problem{ProblemCode::bad_input, "expected \"0\" or \"1\", found " + in_quotes(found->second), "",
        at_field(where, "run.environment." + std::string(kGraphsVariable))};
}
} // namespace

Expected<void> resolve_run(const Json& written, ResolvedPlan& plan)
{
    RunSettings& run = plan.run;
    read_bound(bound_plan_fields(), "run.", written, plan);
    if (run.steps && run.tokens)
        plan.notes.emplace_back("run.steps decides how long to train; run.tokens is not used");
    if (!run.steps && !run.tokens)
        run.steps = kDefaultSteps;
    if (run.documents.end && !run.documents.mask)
        plan.notes.emplace_back("run.documents.end has no effect while run.documents.mask is off");
    const RunSettings usual;
    if (run.momentum != usual.momentum && plan.training.optimizer != Optimizer::muon)
        plan.notes.emplace_back("run.momentum has no effect unless training.optimizer is muon");
    if (run.ahead_loss_weight != usual.ahead_loss_weight && plan.model.predicted_ahead == 0)
        plan.notes.push_back("run.ahead_loss_weight has no effect: " + plan.model.name
            + " has no modules of multi-token prediction (num_nextn_predict_layers)");
    FOURFOLD_CHECK(check_graphs_variable(run, plan.where));
    if (const std::string why = wants_graphs(plan) ? why_no_graphs(plan) : ""; !why.empty())
        plan.notes.push_back("run.environment." + std::string(kGraphsVariable) + " has no effect: " + why);
    FOURFOLD_CHECK(check_data(run.data, plan.where, "run.data"));
    FOURFOLD_CHECK(check_data(run.eval.data, plan.where, "run.eval.data"));
    if (run.eval.every > 0 && run.eval.data.empty())
        plan.notes.emplace_back("run.eval.data is empty: nothing is evaluated");
    return {};
}

} // namespace fourfold
