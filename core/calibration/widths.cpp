// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/widths.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

namespace fourfold {
namespace {

using Kind = OuterError::Kind;
constexpr std::array kKinds{Kind::left_out, Kind::elsewhere, Kind::unmeasured};
constexpr const char* kUnmeasured = "generic"; // the stack of no software
constexpr std::array kBands{Band::node, Band::tens, Band::hundreds};

std::size_t index(Band band)
{
    return static_cast<std::size_t>(band);
}

std::vector<OuterError> those(const std::vector<OuterError>& errors, const std::function<bool(const OuterError&)>& keep)
{
    std::vector<OuterError> kept;
    std::copy_if(errors.begin(), errors.end(), std::back_inserter(kept), keep);
    return kept;
}

std::map<std::pair<std::string, std::string>, std::vector<GroupedError>> bodies_of(
    const std::vector<OuterError>& errors, Band band)
{
    std::map<std::pair<std::string, std::string>, std::vector<GroupedError>> bodies;
    for (const OuterError& error : errors) {
        if (error.kind == Kind::left_out && error.band == band && !error.experts)
            bodies[{error.stack, error.gpu}].push_back({error.group, error.error});
    }
    return bodies;
}

// The typical body's: the geometric mean, so that one software whose hosts scatter does not speak for all.
double usual_width(const std::map<std::pair<std::string, std::string>, std::vector<GroupedError>>& bodies)
{
    constexpr double kLeast = 0.01;
    double sum = 0;
    for (const auto& [body, errors] : bodies)
        sum += std::log(std::max(kLeast, predictive_width(errors)));
    return bodies.empty() ? 0 : std::exp(sum / double(bodies.size()));
}

// Fewer and fewer rows stand behind larger jobs.
void no_larger_job_is_better_known(Widths::Bands& bands)
{
    for (std::size_t band = 1; band < bands.size(); ++band)
        bands[band] = std::max(bands[band], bands[band - 1]);
}

// What a kind of prediction adds to the widths so far. `group`: what shares an error of this kind. Where few groups
// show little of it, what was believed before any measurement widens it.
double added_width(const std::vector<OuterError>& errors, const Widths& widths, Constant believed,
    const std::function<std::string(const OuterError&)>& group)
{
    const double prior = info(believed).prior;
    std::vector<GroupedError> rest;
    std::vector<GroupedSquare> squares;
    std::set<std::string> groups;
    for (const OuterError& error : errors) {
        const double known = widths.of(error);
        groups.insert(group(error));
        rest.push_back({group(error), beyond(error.error, known)});
        squares.push_back({group(error), error.error * error.error - known * known / (kHalfOf90 * kHalfOf90)});
    }
    const double count = double(groups.size());
    double own = predictive_width(rest);
    if (count < kEnoughGroups)
        own = std::max(own, effect_width(squares));
    return std::max(own, std::sqrt((count * own * own + kUsualGroups * prior * prior) / (count + kUsualGroups)));
}

// What was measured of a stack, and by which source.
struct MeasuredGpu {
    std::string stack, source, gpu, generation;
    auto operator<=>(const MeasuredGpu&) const = default;
};
using Measured = std::set<MeasuredGpu>;

Measured measured_of(const std::vector<ScoreCard>& cards)
{
    Measured measured;
    for (const ScoreCard& card : cards) {
        if (card.views.empty())
            continue;
        for (const ScoredRow& scored : card.views.front().scored.rows) {
            const Gpu& gpu = scored.row->plan.cluster.gpu;
            if (scored.row->ran())
                measured.insert({scored.row->plan.stack.id, scored.row->source, gpu.id, gpu.generation});
        }
    }
    return measured;
}

std::string family_of(const ModelShape& model)
{
    const int experts = model.experts ? model.experts->count : 0;
    return "h " + std::to_string(model.hidden) + " e " + std::to_string(experts);
}

void add_view(std::vector<OuterError>& list, const ScoreCard& card, const Measured& measured,
    const TableSources& sources, const Presets& presets)
{
    const auto add = [&](const ScoredRow& scored, Kind kind, const std::string& stack, double error) -> OuterError& {
        const MeasuredRow& row = *scored.row;
        const Gpu& gpu = row.plan.cluster.gpu;
        const auto nowhere_else = [&](const std::string MeasuredGpu::*what, const std::string& its) {
            return kind == Kind::elsewhere && std::ranges::none_of(measured, [&](const MeasuredGpu& run) {
                return run.stack == stack && run.source != row.source && run.*what == its;
            });
        };
        list.push_back({kind, row.source, stack, gpu.id, scored.group, band_of(row.plan.gpus),
            row.plan.model.experts.has_value(), error, gpu.generation, nowhere_else(&MeasuredGpu::gpu, gpu.id),
            nowhere_else(&MeasuredGpu::generation, gpu.generation), family_of(row.plan.model)});
        return list.back();
    };
    const bool has_folds = card.views.front().scored.split.has_value();
    for (const ScoreView& view : card.views) {
        const bool by_generation = view.scored.split == RowSplit::generation;
        if (!by_generation && view.scored.split != RowSplit::source)
            continue;
        for (const ScoredRow& scored : view.scored.rows) {
            const auto error = scored.log_error();
            if (!error || !scored.row->in_core || scored.row->excluded || !scored.row->ran())
                continue;
            OuterError& outer = add(scored, Kind::elsewhere, scored.row->plan.stack.id, *error);
            outer.new_gpu = outer.new_gpu || by_generation;
            outer.new_generation = outer.new_generation || by_generation;
        }
    }
    std::map<std::string, std::optional<Stack>> stacks;
    for (const ScoredRow& scored : card.views.front().scored.rows) {
        const MeasuredRow& row = *scored.row;
        if (!row.in_core || row.excluded || !row.ran() || !row.tps_per_gpu)
            continue;
        if (const auto error = has_folds ? scored.log_error() : std::nullopt)
            add(scored, Kind::left_out, row.plan.stack.id, *error);
        const TableSource* source = sources.source(row.source);
        std::vector<std::string> others = source != nullptr ? source->also_with : std::vector<std::string>();
        others.emplace_back(kUnmeasured);
        for (const std::string& id : others) {
            auto& stack = stacks[id];
            if (!stack) {
                auto preset = presets.stack(id);
                if (!preset)
                    continue;
                stack = *std::move(preset);
            }
            ResolvedPlan plan = row.plan;
            plan.stack = *stack;
            const Prediction prediction = predict(plan);
            if (prediction.tps_per_gpu)
                add(scored, id == kUnmeasured ? Kind::unmeasured : Kind::elsewhere, id,
                    std::log(*prediction.tps_per_gpu / *row.tps_per_gpu));
        }
    }
}

} // namespace

std::string_view name(OuterError::Kind kind)
{
    switch (kind) {
    case Kind::elsewhere:
        return "same software, elsewhere";
    case Kind::unmeasured:
        return "software never measured";
    case Kind::left_out:
        break;
    }
    return "left out";
}

double grouped_width(const std::vector<GroupedError>& errors, double confidence)
{
    std::map<std::string, int> rows;
    for (const GroupedError& error : errors)
        ++rows[error.group];
    std::vector<std::pair<double, double>> sizes; // with their weights
    for (const GroupedError& error : errors)
        sizes.emplace_back(std::abs(error.error), 1.0 / (double(rows.size()) * rows[error.group]));
    std::sort(sizes.begin(), sizes.end());
    double held = 0;
    for (const auto& [size, weight] : sizes) {
        held += weight;
        if (held >= confidence * (1 - 1e-9))
            return size;
    }
    return sizes.empty() ? 0 : sizes.back().first;
}

double predictive_width(const std::vector<GroupedError>& errors, const std::optional<double>& usual)
{
    std::set<std::string> groups;
    std::vector<double> all;
    for (const GroupedError& error : errors) {
        groups.insert(error.group);
        all.push_back(error.error);
    }
    const double count = double(groups.size());
    if (errors.empty())
        return usual.value_or(0);
    if (count >= kManyGroups)
        return conformal_width(all);
    const double own = grouped_width(errors) * std::sqrt(1 + 1 / count);
    if (!usual)
        return own;
    return std::sqrt((count * own * own + kUsualGroups * *usual * *usual) / (count + kUsualGroups));
}

double effect_width(const std::vector<GroupedSquare>& squares)
{
    // 95th percentile of Student's t by degrees of freedom, from 1 (any table).
    constexpr std::array kStudent{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782,
        1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729};
    std::map<std::string, std::pair<double, int>> groups; // sum, rows
    for (const GroupedSquare& square : squares) {
        groups[square.group].first += square.square;
        ++groups[square.group].second;
    }
    if (groups.empty())
        return 0;
    double variance = 0;
    for (const auto& [group, sum] : groups)
        variance += sum.first / sum.second / double(groups.size());
    const double quantile = groups.size() <= kStudent.size() ? kStudent[groups.size() - 1] : kHalfOf90;
    return quantile * std::sqrt(std::max(0.0, variance) * (1 + 1 / double(groups.size())));
}

double beyond(double error, double half_width)
{
    return std::sqrt(std::max(0.0, error * error - half_width * half_width));
}

std::vector<OuterError> outer_errors(
    const std::vector<ScoreCard>& cards, const TableSources& sources, const Presets& presets)
{
    std::vector<OuterError> list;
    const Measured measured = measured_of(cards);
    for (const ScoreCard& card : cards) {
        if (!card.views.empty())
            add_view(list, card, measured, sources, presets);
    }
    return list;
}

double Widths::of(const OuterError& error) const
{
    const auto body = measured.find({error.stack, error.gpu});
    const bool own = error.kind == Kind::left_out && body != measured.end();
    const double band = own ? body->second[index(error.band)] : usual[index(error.band)];
    const double more = error.kind == Kind::elsewhere ? added_in_squares(elsewhere, error.new_generation ? gpu : 0)
        : error.kind == Kind::unmeasured              ? unmeasured
                                                      : 0;
    const auto routed = experts_of.find(error.stack);
    return added_in_squares(band, more, !error.experts ? 0 : routed != experts_of.end() ? routed->second : experts);
}

Widths widths_of(const std::vector<OuterError>& errors)
{
    Widths widths;
    std::set<std::pair<std::string, std::string>> bodies;
    for (const OuterError& error : errors) {
        if (error.kind == Kind::left_out)
            bodies.insert({error.stack, error.gpu});
    }
    for (const Band band : kBands) {
        const auto rows = bodies_of(errors, band);
        widths.usual[index(band)] = usual_width(rows);
    }
    no_larger_job_is_better_known(widths.usual);
    for (const auto& body : bodies) {
        Widths::Bands usual{};
        std::array<std::vector<GroupedError>, 3> own;
        for (const Band band : kBands) {
            auto others = bodies_of(errors, band);
            own[index(band)] = others[body];
            others.erase(body);
            usual[index(band)] = others.empty() ? widths.usual[index(band)] : usual_width(others);
        }
        no_larger_job_is_better_known(usual);
        for (const Band band : kBands)
            widths.measured[body][index(band)] = predictive_width(own[index(band)], usual[index(band)]);
    }
    const auto add
        = [&](double Widths::*width, Constant believed, const std::function<std::string(const OuterError&)>& group,
              const std::function<bool(const OuterError&)>& keep) {
              widths.*width = added_width(those(errors, keep), widths, believed, group);
          };
    const auto source = [](const OuterError& error) { return error.source; };
    add(&Widths::unmeasured, Constant::interval_unmeasured, source,
        [](const OuterError& e) { return e.kind == Kind::unmeasured && !e.experts; });
    add(&Widths::elsewhere, Constant::interval_elsewhere, source,
        [](const OuterError& e) { return e.kind == Kind::elsewhere && !e.new_gpu && !e.experts; });
    // What a software gets wrong of a chip that it never ran on is one error for all GPUs that have it.
    const auto chip = [](const OuterError& error) { return error.stack + " on " + error.generation; };
    add(&Widths::gpu, Constant::interval_gpu, chip,
        [](const OuterError& e) { return e.kind == Kind::elsewhere && e.new_generation && !e.experts; });
    // Rows of one model on one GPU vouch for each other, also of one that was cut to fewer layers. Where nothing of the
    // software was measured, its width for sources holds what experts add.
    const auto model_on_gpu = [](const OuterError& error) { return error.family + " on " + error.gpu; };
    const Widths dense = widths;
    const auto routed = those(
        errors, [](const OuterError& e) { return e.kind != Kind::unmeasured && e.experts && !e.new_generation; });
    widths.experts = added_width(routed, dense, Constant::interval_experts, model_on_gpu);
    for (const auto& [stack, gpu] : bodies) {
        const auto own
            = those(routed, [&](const OuterError& e) { return e.kind == Kind::left_out && e.stack == stack; });
        if (!own.empty())
            widths.experts_of[stack] = added_width(own, dense, Constant::interval_experts, model_on_gpu);
    }
    return widths;
}

std::vector<Coverage> nested_coverage(const std::vector<OuterError>& errors)
{
    // Widths of everything but one group (left out) or one source (the others).
    std::map<std::string, Widths> known;
    const auto without = [&](const OuterError& row) -> const Widths& {
        const bool left_out = row.kind == Kind::left_out;
        const std::string key = row.source + (left_out ? "|" + row.group : "");
        const auto [found, is_new] = known.try_emplace(key);
        if (is_new)
            found->second = widths_of(those(errors, [&](const OuterError& other) {
                const bool alike = other.group == row.group || (row.experts && other.family == row.family);
                return other.source != row.source || (left_out && other.kind == Kind::left_out && !alike);
            }));
        return found->second;
    };
    std::vector<Coverage> list;
    const auto add = [&](const std::string& name, const std::vector<OuterError>& rows) {
        if (rows.empty())
            return;
        Coverage coverage;
        coverage.name = name;
        coverage.rows = int(rows.size());
        double inside = 0;
        for (const OuterError& row : rows) {
            const double width = without(row).of(row);
            coverage.width += width / double(rows.size());
            inside += std::abs(row.error) <= width ? 1 : 0;
        }
        coverage.crossed = inside / double(rows.size());
        list.push_back(std::move(coverage));
    };
    const auto add_kind = [&](const std::string& name, const std::vector<OuterError>& rows) {
        for (const Band band : kBands)
            add(name + ", " + std::string(fourfold::name(band)),
                those(rows, [&](const OuterError& e) { return e.band == band && !e.experts; }));
        add(name + ", experts", those(rows, [](const OuterError& e) { return e.experts; }));
    };
    struct Hardware {
        const char* what;
        bool new_gpu, new_generation;
    };
    constexpr std::array kHardware{Hardware{"", false, false},
        Hardware{" on another GPU of its generation", true, false}, Hardware{" on another generation", true, true}};
    for (const Kind kind : kKinds) {
        for (const auto& [what, new_gpu, new_generation] : kHardware)
            add_kind(std::string(fourfold::name(kind)) + what, those(errors, [&](const OuterError& e) {
                return e.kind == kind && e.new_gpu == new_gpu && e.new_generation == new_generation;
            }));
    }
    return list;
}

} // namespace fourfold
