// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/results.h"

#include "app/view/plan/choices.h"
#include "app/view/text.h"
#include "core/predict/rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace fourfold::view {

namespace {
struct ResultColumn {
    const char* key; // in files
    const char* title;
    std::optional<PlanField> field = {}; // where the value is a field of the plan
    const char* choice = nullptr; // path of an enumeration, for its words
};

// In the order of Results::Column.
const ResultColumn kResultColumns[Results::columns]{{"pinned", ""}, {"place", "#"}, {"gpus", "GPUs", PlanField::gpus},
    {"tp", "TP", PlanField::tp}, {"cp", "CP", PlanField::cp}, {"pp", "PP", PlanField::pp}, {"dp", "DP", PlanField::dp},
    {"ep", "EP", PlanField::ep}, {"virtual_stages", "VPP", PlanField::virtual_stages},
    {"micro_batch", "Micro", PlanField::micro_batch},
    {"schedule", "Schedule", PlanField::schedule, "training.schedule"},
    {"sharding", "Sharding", PlanField::sharding, "training.sharding"},
    {"recompute", "Recompute", PlanField::recompute, "training.recompute"},
    {"memory_gib", "Memory\nGiB", PlanField::memory_gib}, {"tps_per_gpu", "Tokens/s\nper GPU", PlanField::tps_per_gpu},
    {"mfu", "MFU\n%", PlanField::mfu}, {"step_time_s", "Step\ns", PlanField::step_time_s},
    {"training_days", "Train\ndays", PlanField::days}, {"training_cost", "Train\ncost", PlanField::cost},
    {"training_mwh", "Train\nMWh", PlanField::energy_mwh}, {"vs_plan", "vs.\nplan"}, {"evidence", "Confidence"}};

std::string spelling(const Candidate& candidate, int column)
{
    switch (column) {
    case Results::schedule:
        return to_text(candidate.schedule);
    case Results::sharding:
        return to_text(candidate.sharding);
    case Results::recompute:
        return to_text(candidate.recompute);
    default:
        return {};
    }
}

// Sorted by confidence, what may not fit comes last.
double trust(const ResultRow& row)
{
    const int evidence = row.evidence == Evidence::measured ? 2 : row.evidence == Evidence::calibrated ? 1 : 0;
    return row.found.risk > kMarkedRisk ? -row.found.risk : evidence;
}
constexpr double kAsThePlan = 5e-4; // a difference that is none
} // namespace

const char* Results::about(int column)
{
    switch (column) {
    case pin:
        return "Pinned for comparing; a ring: on the Pareto front";
    case place:
        return "Place by what was asked for; layouts of one place differ by less than the model can tell";
    case tp:
        return "Tensor parallel";
    case cp:
        return "Context parallel";
    case pp:
        return "Pipeline parallel";
    case dp:
        return "Data parallel";
    case ep:
        return "Expert parallel";
    case virtual_stages:
        return "Virtual pipeline stages: chunks of layers on a GPU";
    case micro_batch:
        return "Sequences of a micro-batch";
    case memory:
        return "Peak of the fullest GPU, as the software reports it";
    case days:
    case cost:
    case energy:
        return "Of the whole training, with failures where the plan says how often they come";
    case against_plan:
        return "Tokens/s per GPU beside the plan that was searched from";
    case confidence:
        return "Whether a layout like it was measured, its kind of work on this GPU, or neither";
    default:
        return "";
    }
}

const char* Results::title(int column)
{
    return kResultColumns[column].title;
}

const char* Results::key(int column)
{
    return kResultColumns[column].key;
}

void Results::clear()
{
    rows_.clear();
    visible_.clear();
    pareto_.clear();
    places_.clear();
    pinned_.clear();
}

void Results::append(std::vector<ResultRow> rows)
{
    rows_.insert(rows_.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    arrange();
}

void Results::set_outcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto)
{
    pareto_.clear();
    for (const FoundLayout& found : pareto)
        pareto_.insert(found.candidate);
    places_.clear();
    for (const FoundLayout& found : best)
        places_.emplace(found.candidate, found.place);
    arrange();
}

void Results::set_pareto_only(bool on)
{
    pareto_only_ = on;
    arrange();
}

void Results::set_filter(std::optional<Expression> filter)
{
    filter_ = std::move(filter);
    arrange();
}

void Results::sort(int column, bool falling)
{
    if (column < 0 || column >= columns)
        return;
    sort_column_ = column;
    falling_ = falling;
    arrange();
}

int Results::row_of(std::size_t id) const
{
    const auto found = std::find(visible_.begin(), visible_.end(), static_cast<std::uint32_t>(id));
    return found == visible_.end() ? -1 : static_cast<int>(found - visible_.begin());
}

void Results::toggle_pin(std::size_t id)
{
    if (!pinned_.insert(id).second)
        pinned_.erase(id);
}

double Results::value(std::size_t id, int column) const
{
    const ResultRow& row = rows_[id];
    constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
    if (column == pin)
        return pinned_.contains(id) ? 1 : 0;
    if (column == place) {
        const auto found = places_.find(row.found.candidate);
        return found == places_.end() ? kNotKnown : found->second;
    }
    if (column == confidence)
        return trust(row);
    if (column == against_plan)
        return plan_throughput_ && *plan_throughput_ > 0
            ? row.values[slot(PlanField::tps_per_gpu)] / *plan_throughput_ - 1
            : kNotKnown;
    const double value = row.values[slot(*kResultColumns[column].field)];
    const double goodput = row.values[slot(PlanField::goodput)];
    const bool whole = column == days || column == cost || column == energy;
    return whole && !std::isnan(goodput) ? value / goodput : value;
}

// Keys are gathered once: comparing then touches a few bytes per row. Among equals the better one comes first.
void Results::arrange()
{
    struct Key {
        double value, order;
        std::uint32_t id;
    };
    std::vector<Key> keys;
    keys.reserve(rows_.size());
    for (std::size_t id = 0; id < rows_.size(); ++id) {
        if ((pareto_only_ && !is_pareto(id)) || (filter_ && !filter_->holds(rows_[id].values)))
            continue;
        // What is not known goes to the end in both directions.
        const double at = value(id, sort_column_);
        keys.push_back({std::isnan(at) ? std::numeric_limits<double>::infinity()
                : falling_             ? -at
                                       : at,
            rows_[id].order, static_cast<std::uint32_t>(id)});
    }
    std::sort(keys.begin(), keys.end(),
        [](const Key& a, const Key& b) { return std::tie(a.value, a.order, a.id) < std::tie(b.value, b.order, b.id); });
    visible_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        visible_[i] = keys[i].id;
}

std::string Results::text(std::size_t id, int column) const
{
    if (column == pin)
        return pinned_.contains(id) ? "\u25cf" : is_pareto(id) ? "\u25cb" : "";
    if (const char* choice = kResultColumns[column].choice)
        return short_choice_label(choice, spelling(rows_[id].found.candidate, column));
    const double at = value(id, column);
    if (column == place)
        return std::isnan(at) ? "" : grouped(at);
    if (column == confidence) {
        const ResultRow& row = rows_[id];
        const std::string words
            = row.found.risk > kMarkedRisk ? percent(row.found.risk, 0) + " % may not fit" : to_text(row.evidence);
        return row.warned ? "\u26a0 " + words : words;
    }
    if (!std::isfinite(at))
        return kUnknown;
    switch (column) {
    case memory:
        return gib(at);
    case throughput:
        return throughput_text(at);
    case mfu:
        return percent(at);
    case step_time:
        return grouped(at, at < 1 ? 4 : 2);
    case days:
    case cost:
    case energy:
        return significant(at);
    case against_plan:
        return std::abs(at) < kAsThePlan ? "as the plan" : signed_percent(at);
    default:
        return grouped(at);
    }
}

Tone Results::tone(std::size_t id, int column) const
{
    if (column == confidence && (rows_[id].found.risk > kMarkedRisk || rows_[id].warned))
        return Tone::warning;
    const double at = column == against_plan ? value(id, against_plan) : 0;
    if (!std::isfinite(at) || std::abs(at) < kAsThePlan)
        return Tone::neutral;
    return at > 0 ? Tone::good : Tone::bad;
}

std::string Results::certainty(std::size_t id) const
{
    const ResultRow& row = rows_[id];
    const double stretch = row.found.stretch;
    return evidence_text(row.evidence)
        + (stretch == 1 ? "" : ". Your own runs near it move its time by " + signed_percent(stretch - 1))
        + ". On the device " + gib(row.found.figures.memory_device_gib) + " GiB; risk of not fitting "
        + percent(row.found.risk, 0) + " %";
}

Table Results::table(int most) const
{
    Table table;
    for (int column = place; column < columns; ++column) {
        const bool whole = column <= micro_batch || column == confidence;
        std::string title = kResultColumns[column].title;
        std::replace(title.begin(), title.end(), '\n', ' ');
        table.columns.push_back({kResultColumns[column].key, std::move(title), whole ? 0 : -5});
    }
    table.columns.push_back({"risk", "Risk of not fitting", -3});
    const std::size_t count = std::min(visible_.size(), static_cast<std::size_t>(std::max(0, most)));
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t id = visible_[row];
        std::vector<Cell> cells;
        for (int column = place; column < confidence; ++column) {
            const double at = value(id, column);
            if (kResultColumns[column].choice != nullptr)
                cells.emplace_back(spelling(rows_[id].found.candidate, column));
            else if (!std::isfinite(at))
                cells.emplace_back();
            else if (column <= micro_batch)
                cells.emplace_back(static_cast<std::int64_t>(std::llround(at)));
            else
                cells.emplace_back(at);
        }
        cells.emplace_back(to_text(rows_[id].evidence));
        cells.emplace_back(rows_[id].found.risk);
        table.rows.push_back(std::move(cells));
    }
    return table;
}

} // namespace fourfold::view
