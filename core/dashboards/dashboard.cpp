// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dashboards/dashboard.h"

#include "core/history/clock.h"
#include "core/history/run_event.h"

#include <array>

namespace fourfold {

namespace {
struct Shown {
    EventKind kind;
    const char *key, *name;
    const char* in = nullptr; // an object of the event
};
constexpr std::array kShown{Shown{EventKind::step, "loss", "train/loss"},
    Shown{EventKind::step, "grad_norm", "train/grad_norm"},
    Shown{EventKind::step, "learning_rate", "train/learning_rate"}, Shown{EventKind::step, "tokens", "train/tokens"},
    Shown{EventKind::step, "global_batch", "train/global_batch"},
    Shown{EventKind::step, "loss_scale", "train/loss_scale"},
    Shown{EventKind::step, "busiest", "train/experts_busiest", "experts"},
    Shown{EventKind::step, "idle", "train/experts_idle", "experts"},
    Shown{EventKind::step, "dropped", "train/experts_dropped", "experts"},
    Shown{EventKind::step, "skipped_steps", "train/skipped_steps"},
    Shown{EventKind::step, "nan_steps", "train/nan_steps"}, Shown{EventKind::step, "step_time_s", "speed/step_time_s"},
    Shown{EventKind::step, "data_time_s", "speed/data_time_s"},
    Shown{EventKind::step, "tps_per_gpu", "speed/tps_per_gpu"},
    Shown{EventKind::step, "tflops_per_gpu", "speed/tflops_per_gpu"}, Shown{EventKind::step, "mfu", "speed/mfu"},
    Shown{EventKind::step, "memory_peak_gib", "memory/peak_gib"}, Shown{EventKind::eval, "loss", "eval/loss"},
    Shown{EventKind::eval, "unigram_entropy", "eval/unigram_entropy"}};
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

} // namespace fourfold
