// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dashboards/dashboard.h"

#include "core/history/clock.h"
#include "core/history/run_event.h"

#include <algorithm>
#include <array>

namespace fourfold {

namespace {
struct Shown {
    EventKind kind;
    const char *key, *name, *about;
    const char* in = nullptr; // an object of the event
};
constexpr std::array kShown{
    Shown{EventKind::step, "loss", "train/loss", "Mean cross-entropy of the global batch, nats per token."},
    Shown{EventKind::step, "grad_norm", "train/grad_norm", "2-norm of all gradients before clipping."},
    Shown{EventKind::step, "learning_rate", "train/learning_rate", "Of this step's update."},
    Shown{EventKind::step, "tokens", "train/tokens", "Tokens trained on since the start."},
    Shown{EventKind::step, "global_batch", "train/global_batch", "Sequences of a step."},
    Shown{EventKind::step, "loss_scale", "train/loss_scale", "What losses are multiplied by in fp16."},
    Shown{EventKind::step, "busiest", "train/experts_busiest",
        "Tokens of the busiest expert, as a multiple of the mean of its layer.", "experts"},
    Shown{EventKind::step, "idle", "train/experts_idle", "Experts without a token, over all layers.", "experts"},
    Shown{EventKind::step, "dropped", "train/experts_dropped",
        "Share of the tokens' choices that found no place, 0 to 1.", "experts"},
    Shown{EventKind::step, "skipped_steps", "train/skipped_steps", "Updates left out since the start."},
    Shown{EventKind::step, "nan_steps", "train/nan_steps",
        "Steps whose loss or gradient was not finite, since the start."},
    Shown{EventKind::step, "step_time_s", "speed/step_time_s", "Seconds of a step."},
    Shown{EventKind::step, "data_time_s", "speed/data_time_s", "Seconds of a step that rank 0 waited for data."},
    Shown{EventKind::step, "tps_per_gpu", "speed/tps_per_gpu", "Tokens per second and GPU."},
    Shown{EventKind::step, "tflops_per_gpu", "speed/tflops_per_gpu",
        "10^12 floating-point operations per second and GPU."},
    Shown{EventKind::step, "mfu", "speed/mfu", "Model FLOPs utilization: share of the GPU's dense peak, 0 to 1."},
    Shown{EventKind::step, "memory_peak_gib", "memory/peak_gib", "GiB, the most of any rank since the start."},
    Shown{EventKind::eval, "loss", "eval/loss", "Mean cross-entropy of the held-out data, nats per token."},
    Shown{EventKind::eval, "unigram_entropy", "eval/unigram_entropy",
        "Held-out data under the token frequencies of the training data, nats per token."}};
} // namespace

EventNumbers numbers_of(const Json& event)
{
    EventNumbers numbers;
    numbers.time = history::seconds_of(string_at(event, "time")).value_or(0);
    const EventKind kind = kind_of(event);
    const auto step = number_at(event, "step");
    if (!step || *step < 0 || *step > 1e15) // an event is another program's
        return numbers;
    numbers.step = static_cast<std::int64_t>(*step);
    for (const Shown& shown : kShown) {
        if (shown.kind != kind)
            continue;
        const Json* from = &event;
        if (shown.in != nullptr) {
            const auto at = event.find(shown.in);
            if (at == event.end() || !at->is_object())
                continue;
            from = &*at;
        }
        if (const auto value = number_at(*from, shown.key))
            numbers.values.emplace_back(shown.name, *value);
    }
    return numbers;
}

std::string_view about_number(std::string_view name)
{
    const auto shown = std::ranges::find_if(kShown, [name](const Shown& one) { return name == one.name; });
    return shown == kShown.end() ? std::string_view() : shown->about;
}

} // namespace fourfold
