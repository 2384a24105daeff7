// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/loss_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kFewest = 20; // steps that say what is usual
constexpr double kLeastRise = 0.01; // of the mean: a loss that hardly moves has a deviation of nearly nothing

std::string shown(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

struct Usual {
    double mean = 0, limit = std::numeric_limits<double>::infinity();
};

// Of logarithms, the hundredth is a difference.
Usual usual(const std::deque<double>& values, double sigma, bool logarithms)
{
    if (values.size() < kFewest)
        return {};
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares / double(values.size() - 1));
    return {mean, mean + std::max(sigma * deviation, kLeastRise * (logarithms ? 1 : std::abs(mean)))};
}

// What is done with the step, after a semicolon.
std::string deed(SpikeAction action, const std::string& key, bool updated)
{
    switch (action) {
    case SpikeAction::skip:
        return "the update was left out (" + key + ")";
    case SpikeAction::stop:
        return std::string("the run ends ") + (updated ? "after" : "before") + " the update (" + key + " is stop)";
    default:
        return "the run goes on (" + key + ")";
    }
}

std::string will(SpikeAction action, bool updated)
{
    switch (action) {
    case SpikeAction::skip:
        return "its update is left out";
    case SpikeAction::stop:
        return std::string("the run ends ") + (updated ? "after" : "before") + " its update";
    default:
        return "there is a warning";
    }
}
} // namespace

std::vector<std::string> LossRule::promises() const
{
    std::vector<std::string> says{std::string("Where the loss or the gradient norm is not finite, ")
        + (settings_.not_finite == NotFiniteAction::skip ? "the step's update is left out."
                : updated_                               ? "the run ends after the step's update."
                                                         : "the run ends before the step's update.")};
    if (fp16_)
        says.emplace_back("Gradients beyond fp16 alone halve the loss scale and leave the step's update out.");
    if (settings_.spike == SpikeAction::ignore)
        says.emplace_back("Losses and gradient norms that stand out are not looked for.");
    else
        says.push_back("Where the loss or the gradient norm is more than " + shown(settings_.sigma)
            + " standard deviations above the last " + std::to_string(settings_.window) + " steps (from the "
            + std::to_string(kFewest + 1) + "st step on), " + will(settings_.spike, updated_) + ".");
    return says;
}

LossRule::Finding LossRule::not_finite(double loss, double grad_norm) const
{
    const bool of_loss = !std::isfinite(loss);
    const auto action = settings_.not_finite == NotFiniteAction::stop ? SpikeAction::stop : SpikeAction::skip;
    const std::string advice = action == SpikeAction::skip ? ": lower run.lr or set run.clip_norm"
                                                           : ": go on from a checkpoint with a lower run.lr";
    return {of_loss ? "loss" : "grad_norm", action, of_loss ? loss : grad_norm, {}, {},
        std::string("the ") + (of_loss ? "loss" : "gradient norm") + " is not finite; "
            + deed(action, "run.watch.not_finite", updated_) + advice};
}

std::optional<LossRule::Finding> LossRule::look(double loss, double grad_norm)
{
    if (!std::isfinite(loss) || !std::isfinite(grad_norm))
        return not_finite(loss, grad_norm);
    if (settings_.spike == SpikeAction::ignore)
        return std::nullopt;
    const double norm = std::log(std::max(grad_norm, std::numeric_limits<double>::min()));
    const Usual of_loss = usual(losses_, settings_.sigma, false), of_norm = usual(norms_, settings_.sigma, true);
    std::optional<Finding> found;
    if (loss > of_loss.limit)
        found = Finding{"loss", settings_.spike, loss, of_loss.mean, of_loss.limit, ""};
    else if (norm > of_norm.limit)
        found = Finding{"grad_norm", settings_.spike, grad_norm, std::exp(of_norm.mean), std::exp(of_norm.limit), ""};
    if (found)
        found->message = std::string("the ") + (found->of == "loss" ? "loss " : "gradient norm ") + shown(found->value)
            + " stands out of the last " + std::to_string(losses_.size()) + " steps (mean " + shown(*found->mean)
            + ", limit " + shown(*found->limit) + "); " + deed(found->action, "run.watch.spike", updated_);
    if (found && found->action != SpikeAction::warn)
        return found;
    losses_.push_back(loss);
    norms_.push_back(norm);
    if (int(losses_.size()) > settings_.window) {
        losses_.pop_front();
        norms_.pop_front();
    }
    return found;
}

} // namespace fourfold::trainer
