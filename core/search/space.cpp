// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/space.h"

#include "core/base/text.h"
#include "core/plan/derived.h"
#include "core/plan/fields.h"
#include "core/plan/stage_layers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace fourfold {
namespace {

std::vector<int> divisors(int number, int most)
{
    std::vector<int> list;
    for (int i = 1; i <= std::min(number, most); ++i) {
        if (number % i == 0)
            list.push_back(i);
    }
    return list;
}

// Every degree up to `most` that divides one of the GPU counts.
std::vector<int> degrees(const std::vector<int>& gpus, int most)
{
    std::vector<int> list;
    for (int degree = 1; degree <= most; ++degree) {
        if (std::any_of(gpus.begin(), gpus.end(), [&](int count) { return count % degree == 0; }))
            list.push_back(degree);
    }
    return list;
}

template <typename T>
void sort_unique(std::vector<T>& list)
{
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(separator, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos)
            return parts;
        begin = end + 1;
    }
}

Expected<void> set_numbers(std::vector<int>& axis, const std::vector<std::string>& words, const std::string& where)
{
    std::vector<int> values;
    for (const std::string& word : words) {
        int value = 0;
        const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (code != std::errc() || end != word.data() + word.size() || value < 1 || value > kMaxGpus)
            return Problem{ProblemCode::bad_input,
                "found " + in_quotes(word) + ", expected whole numbers above 0, at most " + std::to_string(kMaxGpus),
                "", where};
        values.push_back(value);
    }
    sort_unique(values);
    axis = std::move(values);
    return {};
}

template <typename Enum>
Expected<void> set_words(std::vector<Enum>& axis, const std::vector<std::string>& words, const std::string& where)
{
    std::vector<Enum> values;
    for (const std::string& word : words) {
        FOURFOLD_TRY(const Enum value, from_text<Enum>(word, where));
        values.push_back(value);
    }
    sort_unique(values);
    axis = std::move(values);
    return {};
}

Expected<void> set_orders(
    std::vector<std::array<Dimension, 4>>& axis, const std::vector<std::string>& words, const std::string& where)
{
    std::vector<std::array<Dimension, 4>> values;
    std::array<Dimension, 4> order = kDimensions;
    for (const std::string& word : words) {
        const std::size_t before = values.size();
        std::sort(order.begin(), order.end());
        do {
            if (order_text(order) == word || word == "all")
                values.push_back(order);
        } while (std::next_permutation(order.begin(), order.end()));
        if (values.size() == before)
            return Problem{ProblemCode::bad_input,
                "found " + in_quotes(word) + ", expected an order of the four dimensions such as tp-cp-pp-dp, or all",
                "", where};
    }
    sort_unique(values);
    axis = std::move(values);
    return {};
}

} // namespace

double SearchSpace::combinations() const
{
    double degrees = 0;
    for (const int count : gpus)
        for_each_mesh(*this, count, [&](int, int, int, int) { ++degrees; });
    for (const std::size_t size : {ep.size(), virtual_stages.size(), micro_batch.size(), sharding.size(),
             recompute.size(), schedule.size(), orders.size()})
        degrees *= double(size);
    return degrees;
}

SearchSpace default_space(const ResolvedPlan& plan, std::vector<int> gpus)
{
    constexpr int kMostContextParallel = 64;
    SearchSpace space;
    space.gpus = std::move(gpus);
    sort_unique(space.gpus);
    space.tp = degrees(space.gpus, plan.model.heads);
    std::erase_if(space.tp, [&](int tp) { return plan.model.heads % tp != 0; });
    space.cp = degrees(space.gpus, kMostContextParallel);
    std::erase_if(space.cp, [&](int cp) { return plan.training.seq_len % cp != 0; });
    space.pp = degrees(space.gpus, plan.model.layers);
    space.ep
        = plan.model.experts ? divisors(plan.model.experts->count, plan.model.experts->count) : std::vector<int>{1};
    space.virtual_stages = {1, 2, 3, 4, 5, 6, 7, 8};
    space.micro_batch = {1, 2, 4, 8, 16};
    space.sharding = {Sharding::none, Sharding::optimizer, Sharding::parameters};
    space.recompute = {Recompute::none, Recompute::selective, Recompute::full};
    for (const ScheduleTraits& traits : schedules()) {
        if (traits.common)
            space.schedule.push_back(traits.schedule);
    }
    space.orders = {plan.layout.order};
    // What the plan has itself is always tried: no answer is worse than the question.
    const auto also = [](auto& axis, const auto& own) {
        if (std::find(axis.begin(), axis.end(), own) == axis.end())
            axis.push_back(own);
        sort_unique(axis);
    };
    also(space.micro_batch, plan.training.micro_batch);
    also(space.virtual_stages, plan.layout.virtual_stages);
    also(space.sharding, plan.training.sharding);
    also(space.recompute, plan.training.recompute);
    if (plan.training.schedule != Schedule::csv) // a file is of one shape
        also(space.schedule, plan.training.schedule);
    return space;
}

std::vector<int> gpu_counts(const Cluster& cluster, int most)
{
    const int node = std::max(1, cluster.gpus_per_node);
    std::vector<int> counts = divisors(node, std::min(most, node));
    for (int count = 2 * node; count <= most; count += node)
        counts.push_back(count);
    return counts;
}

int micro_batches_of(int global_batch, int micro_batch, int dp)
{
    const std::int64_t unit = std::int64_t(std::max(1, micro_batch)) * std::max(1, dp);
    return int(std::max<std::int64_t>(1, global_batch / unit));
}

std::vector<std::string> axis_names()
{
    return {
        "gpus", "tp", "cp", "pp", "ep", "virtual_stages", "micro_batch", "sharding", "recompute", "schedule", "order"};
}

std::string order_text(const std::array<Dimension, 4>& order)
{
    std::string text;
    for (const Dimension dimension : order) {
        if (!text.empty())
            text += '-';
        text += name(dimension);
    }
    return text;
}

Expected<void> set_axis(SearchSpace& space, const std::string& assignment, const std::string& where)
{
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals + 1 == assignment.size())
        return Problem{ProblemCode::bad_input,
            "found " + in_quotes(assignment) + ", expected an axis and its values, such as tp=1,2,4", "", where};
    const std::string axis = assignment.substr(0, equals);
    const std::vector<std::string> words = split(assignment.substr(equals + 1), ',');
    const std::string at = where + " " + axis;
    if (axis == "sharding")
        return set_words(space.sharding, words, at);
    if (axis == "recompute")
        return set_words(space.recompute, words, at);
    if (axis == "schedule")
        return set_words(space.schedule, words, at);
    if (axis == "order")
        return set_orders(space.orders, words, at);
    struct Numbers {
        const char* name;
        std::vector<int>* values;
    };
    const Numbers all[] = {{"gpus", &space.gpus}, {"tp", &space.tp}, {"cp", &space.cp}, {"pp", &space.pp},
        {"ep", &space.ep}, {"virtual_stages", &space.virtual_stages}, {"micro_batch", &space.micro_batch}};
    for (const Numbers& numbers : all) {
        if (axis == numbers.name)
            return set_numbers(*numbers.values, words, at);
    }
    const auto near = nearest_words(axis, axis_names(), 1);
    return Problem{ProblemCode::bad_input,
        "unknown axis " + in_quotes(axis) + ", expected one of " + joined(axis_names(), ", "),
        near.empty() ? "" : "did you mean " + near.front() + "?", where};
}

void place(const Candidate& candidate, const SearchSpace& space, const ResolvedPlan& base, ResolvedPlan& plan)
{
    Layout& layout = plan.layout;
    plan.gpus = candidate.gpus();
    layout.tp = candidate.tp;
    layout.cp = candidate.cp;
    layout.pp = candidate.pp;
    layout.dp = candidate.dp;
    layout.ep = candidate.ep;
    // A plan that cuts experts otherwise than the layers keeps doing so.
    layout.etp = base.layout.etp == base.layout.tp ? candidate.tp : base.layout.etp;
    layout.order = space.orders[candidate.order];
    plan.padded_vocab = padded_vocabulary(plan);
    layout.stage_layers.clear();
    place_stages(candidate, base, plan);
}

void place_stages(const Candidate& candidate, const ResolvedPlan& base, ResolvedPlan& plan)
{
    Layout& layout = plan.layout;
    layout.virtual_stages = candidate.virtual_stages;
    plan.training.sharding = candidate.sharding;
    layout.dp_shard = default_dp_shard(plan);
    place_batch(candidate, base, plan);
}

void place_batch(const Candidate& candidate, const ResolvedPlan& base, ResolvedPlan& plan)
{
    Training& training = plan.training;
    Layout& layout = plan.layout;
    training.recompute = candidate.recompute;
    const auto chunks = static_cast<std::size_t>(layout.pp) * static_cast<std::size_t>(layout.virtual_stages);
    // Those of the same mesh stay, but where modules weigh on the last chunk and it comes to lie on another stage.
    const bool turned
        = plan.model.predicted_ahead > 0 && traits_of(training.schedule).order != traits_of(candidate.schedule).order;
    training.schedule = candidate.schedule;
    if (layout.stage_layers.size() != chunks || turned)
        layout.stage_layers
            = default_stage_layers(plan.model, plan.stack, layout.pp, layout.virtual_stages, candidate.schedule);
    training.micro_batch = candidate.micro_batch;
    training.global_batch = candidate.global_batch > 0 ? candidate.global_batch : base.training.global_batch;
    training.micro_batches = micro_batches_of(training.global_batch, candidate.micro_batch, candidate.dp);
}

} // namespace fourfold
