// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/tracker_curve.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr int kNoRank = std::numeric_limits<int>::max();

struct Names {
    std::optional<CurveMetric> metric;
    std::vector<std::string_view> tags; // whole, the surest first
    std::vector<std::string_view> ends; // the last part of a tag
};

const std::vector<Names>& all_names()
{
    static const std::vector<Names> names{{CurveMetric::loss,
                                              {"train/loss", "training/loss", "train_loss", "training_loss",
                                                  "loss/train", "lm_loss", "loss_metrics/global_avg_loss", "loss"},
                                              {"loss", "train_loss", "lm_loss", "training_loss"}},
        {CurveMetric::throughput,
            {"speed/tps_per_gpu", "tps_per_gpu", "tokens_per_second_per_gpu", "tokens_per_gpu_per_second",
                "tokens_per_sec_per_gpu", "throughput(tps)"},
            {"tps_per_gpu", "tokens_per_second_per_gpu", "tokens_per_gpu_per_second", "tokens_per_sec_per_gpu",
                "throughput(tps)"}},
        {CurveMetric::step_time,
            {"speed/step_time_s", "step_time", "step_time_s", "iteration_time", "time_per_step", "seconds_per_step",
                "time_metrics/end_to_end(s)"},
            {"step_time", "step_time_s", "iteration_time", "time_per_step", "seconds_per_step"}},
        {CurveMetric::gradient_norm, {"train/grad_norm", "grad_norm", "gradient_norm"},
            {"grad_norm", "gradient_norm", "global_grad_norm", "total_grad_norm"}},
        {CurveMetric::mfu, {"speed/mfu", "mfu", "mfu(%)"}, {"mfu", "mfu(%)"}},
        {std::nullopt,
            {"train/tokens", "train/num_input_tokens_seen", "tokens", "consumed_tokens", "tokens_seen",
                "num_tokens_seen", "total_tokens"},
            {"tokens", "consumed_tokens", "tokens_seen", "num_tokens_seen", "num_input_tokens_seen", "total_tokens"}}};
    return names;
}

// Another quantity of the same name: on other texts, or over another axis.
bool is_of_another_kind(const std::string& tag)
{
    for (const char* word : {"eval", "valid", "val/", "val_", "test", "aux", "balanc", "z_loss", "_vs_"}) {
        if (tag.find(word) != std::string::npos)
            return true;
    }
    return false;
}
} // namespace

std::optional<TagMeaning> meaning_of_tag(std::string_view tag)
{
    std::string plain = lower_case(tag);
    std::ranges::replace(plain, '-', '_');
    std::ranges::replace(plain, ' ', '_');
    std::ranges::replace(plain, '.', '/');
    if (is_of_another_kind(plain))
        return {};
    const std::string end = plain.substr(plain.rfind('/') + 1);
    for (const Names& names : all_names()) {
        const bool per_cent = plain.find('%') != std::string::npos;
        const auto whole = std::ranges::find(names.tags, plain);
        if (whole != names.tags.end())
            return TagMeaning{names.metric, static_cast<int>(whole - names.tags.begin()), per_cent};
        const auto last = std::ranges::find(names.ends, end);
        if (last != names.ends.end())
            return TagMeaning{names.metric, static_cast<int>(100 + (last - names.ends.begin())), per_cent};
    }
    return {};
}

TrackerCurve::TrackerCurve(TrackedPlace place)
    : run_(std::move(place))
{
    ranks_.fill(kNoRank);
}

std::string TrackerCurve::id_of(const TrackedPlace& place)
{
    return place.path.string();
}

Expected<bool> TrackerCurve::read()
{
    changed_ = false;
    FOURFOLD_CHECK(run_.read([this](const TrackedValue& value) { take(value); },
        [this] {
            rows_.clear();
            tags_ = {};
            ranks_.fill(kNoRank);
            changed_ = true;
        }));
    return changed_;
}

void TrackerCurve::take(const TrackedValue& value)
{
    auto known = meanings_.find(value.tag);
    if (known == meanings_.end())
        known = meanings_.emplace(value.tag, meaning_of_tag(value.tag)).first;
    if (!known->second)
        return;
    const TagMeaning& meaning = *known->second;
    const std::size_t column = meaning.metric ? static_cast<std::size_t>(*meaning.metric) : kCurveMetrics;
    if (meaning.rank > ranks_[column] || (meaning.rank == ranks_[column] && tags_[column] != value.tag))
        return;
    if (meaning.rank < ranks_[column]) { // a surer name than the one before
        ranks_[column] = meaning.rank;
        tags_[column] = value.tag;
        for (auto& [step, row] : rows_)
            row.values[column] = kNothing;
    }
    const auto [place, is_new] = rows_.try_emplace(value.step);
    if (is_new)
        place->second.values.fill(kNothing);
    place->second.time_s = value.time_s;
    const bool is_share = meaning.metric == CurveMetric::mfu && !meaning.per_cent && value.value <= 1.5;
    place->second.values[column] = value.value * (is_share ? 100 : 1); // the charts show MFU in per cent
    changed_ = true;
}

CurveRun TrackerCurve::curve() const
{
    CurveRun curve;
    curve.id = id_of(run_.place());
    curve.name = run_.name() + " (" + name_of(run_.place().tracker) + ")";
    curve.tags = run_.tags();
    const bool has_tokens = ranks_[kCurveMetrics] != kNoRank;
    const double begin = rows_.empty() ? 0 : rows_.begin()->second.time_s;
    double tokens = 0, seconds = 0;
    for (const auto& [step, row] : rows_) {
        curve.step.push_back(static_cast<double>(step));
        seconds = std::max(seconds, row.time_s - begin);
        curve.seconds.push_back(seconds);
        if (has_tokens) {
            if (!std::isnan(row.values[kCurveMetrics]))
                tokens = std::max(tokens, row.values[kCurveMetrics]);
            curve.tokens.push_back(tokens);
        }
        for (std::size_t i = 0; i < kCurveMetrics; ++i)
            curve.values[i].push_back(static_cast<float>(row.values[i]));
    }
    return curve;
}

} // namespace fourfold::view
