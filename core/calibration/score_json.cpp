// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/score_card.h"

namespace fourfold {

namespace {

Json json_of(const ErrorFigures& figures)
{
    return {{"rows", figures.rows}, {"mape", figures.mape}, {"median", figures.median}, {"max", figures.max},
        {"bias", figures.bias}, {"within_5", figures.within_5}, {"within_10", figures.within_10}};
}

Json json_of(const Verdicts& verdicts)
{
    return {{"cells", verdicts.cells}, {"crashed", verdicts.crashed}, {"right", verdicts.right},
        {"false_alarms", verdicts.false_alarms}, {"missed", verdicts.missed}, {"accuracy", verdicts.accuracy()},
        {"missed_share", verdicts.missed_share()}, {"unknown", verdicts.unknown}};
}

Json json_of(const Figures& figures)
{
    const RankingFigures& ranking = figures.ranking;
    const PlannerFigures& planner = figures.planner;
    const MemoryFigures& memory = figures.memory;
    return {{"name", figures.name}, {"throughput", json_of(figures.throughput)},
        {"throughput_with_anomalies", json_of(figures.with_anomalies)}, {"unpredicted", figures.unpredicted},
        {"memory",
            {{"rows", memory.rows}, {"mae_gib", memory.mae_gib}, {"mape", memory.mape}, {"max_gib", memory.max_gib},
                {"bias_gib", memory.bias_gib}}},
        {"fits", json_of(figures.fits)}, {"runs", json_of(figures.runs)},
        {"ranking",
            {{"groups", ranking.groups}, {"spearman_groups", ranking.long_groups},
                {"spearman_mean", ranking.spearman_mean}, {"spearman_median", ranking.spearman_median},
                {"spearman_min", ranking.spearman_min}, {"regret_mean", ranking.regret_mean},
                {"regret_max", ranking.regret_max}, {"first_regret_mean", ranking.first_regret_mean},
                {"first_regret_max", ranking.first_regret_max}, {"exact", ranking.exact}}},
        {"planner",
            {{"groups", planner.groups}, {"crashed_picks", planner.crashed_picks}, {"regret_mean", planner.regret_mean},
                {"regret_median", planner.regret_median}, {"regret_max", planner.regret_max}}}};
}

} // namespace

Json to_json(const Coverage& coverage)
{
    return {{"name", coverage.name}, {"rows", coverage.rows}, {"without_interval", coverage.without_interval},
        {"coverage", coverage.shipped}, {"half_width", coverage.shipped_width}, {"left_out_width", coverage.width},
        {"left_out_coverage", coverage.crossed ? Json(*coverage.crossed) : Json()}};
}

namespace {

Json worst_json(const ScoredRow& scored)
{
    const MeasuredRow& row = *scored.row;
    const Layout& layout = row.plan.layout;
    return {{"table", row.table}, {"row", row.row}, {"line", row.line}, {"model", row.plan.model.name},
        {"gpus", row.plan.gpus},
        {"layout", {{"tp", layout.tp}, {"cp", layout.cp}, {"pp", layout.pp}, {"dp", layout.dp}}},
        {"micro_batch", row.plan.training.micro_batch}, {"predicted_tps_per_gpu", *scored.tps_per_gpu},
        {"measured_tps_per_gpu", *row.tps_per_gpu}, {"error", *scored.error()}};
}

Json json_of(const ScoreView& view)
{
    const ScoredTable& scored = view.scored;
    Json json{{"label", scored.label}, {"left_out", scored.split.has_value()},
        {"split", scored.split ? Json(std::string(name(*scored.split))) : Json()}, {"stale", scored.stale},
        {"groups_without_fold", scored.groups_without_fold}, {"sections", Json::array()}, {"coverage", Json::array()},
        {"worst", Json::array()}};
    for (const Figures& figures : view.sections)
        json["sections"].push_back(json_of(figures));
    for (const Coverage& coverage : view.coverage)
        json["coverage"].push_back(to_json(coverage));
    for (const ScoredRow* row : view.worst)
        json["worst"].push_back(worst_json(*row));
    return json;
}

} // namespace

Json to_json(const ScoreCard& card)
{
    const MeasuredTable& table = *card.table;
    Json json{{"table", table.name}, {"file", table.file}, {"lines", table.lines}, {"rows", table.rows.size()},
        {"anomalies", card.excluded}, {"not_scored", card.unscored}, {"assumed", card.assumed},
        {"problems", Json::array()}, {"remarks", table.remarks}, {"views", Json::array()}};
    for (const Problem& problem : table.problems)
        json["problems"].push_back({{"where", problem.where}, {"message", problem.message}, {"hint", problem.hint}});
    for (const ScoreView& view : card.views)
        json["views"].push_back(json_of(view));
    return json;
}

} // namespace fourfold
