// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/training_log.h"

#include "core/base/file_kind.h"
#include "core/history/event_types.h"
#include "core/history/run_state.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace fourfold {

namespace {

std::string without_colours(std::string_view line)
{
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
            while (i < line.size() && !(line[i] >= '@' && line[i] <= '~' && line[i] != '['))
                ++i;
            continue;
        }
        out += line[i] == '\t' || line[i] == '\r' ? ' ' : line[i];
    }
    return out;
}

// The number behind `key`, commas of thousands left out; nothing when the key is not in the line.
std::optional<double> number_after(const std::string& line, const std::string& key)
{
    std::size_t at = 0;
    do {
        at = line.find(key, at);
        if (at == std::string::npos)
            return {};
        // "loss:" is no part of "lm loss scale:" or "val_loss:".
        if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '|')
            break;
        ++at;
    } while (true);
    std::string digits;
    for (std::size_t i = line.find_first_not_of(' ', at + key.size()); i < line.size(); ++i) {
        const char c = line[i];
        if (c == ',' && !digits.empty())
            continue;
        if ((c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E')
            break;
        digits += c;
    }
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    return digits.empty() || end == digits.c_str() || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

// What a count may be: a whole number that an int holds.
std::optional<int> count_of(const std::optional<double>& value, int least)
{
    if (!value || *value < least || *value > std::numeric_limits<int>::max() || *value != std::floor(*value))
        return {};
    return static_cast<int>(*value);
}

std::optional<double> first_of(const std::string& line, std::initializer_list<const char*> keys)
{
    for (const char* key : keys) {
        if (const auto value = number_after(line, key))
            return value;
    }
    return {};
}

// Times, speeds and sizes: a line that was garbled has others.
std::optional<double> positive(const std::optional<double>& value)
{
    return value && *value > 0 ? value : std::nullopt;
}

std::optional<LoggedStep> megatron_step(const std::string& line)
{
    const auto step = count_of(number_after(line, "iteration "), 0);
    if (!step || line.find("elapsed time per iteration") == std::string::npos || line.find('/') == std::string::npos)
        return {};
    LoggedStep out;
    out.step = *step;
    if (const auto ms = positive(number_after(line, "elapsed time per iteration (ms):")))
        out.step_time_s = *ms / 1000;
    else
        out.step_time_s = positive(number_after(line, "elapsed time per iteration (s):"));
    out.loss = number_after(line, "lm loss:");
    out.grad_norm = number_after(line, "grad norm:");
    out.learning_rate = number_after(line, "learning rate:");
    out.loss_scale = number_after(line, "loss scale:");
    out.samples = positive(number_after(line, "consumed samples:"));
    out.global_batch = positive(number_after(line, "global batch size:"));
    out.tflops_per_gpu = positive(first_of(line, {"throughput per GPU (TFLOP/s/GPU):", "TFLOPs:", "tflops:"}));
    return out;
}

std::optional<LoggedStep> torchtitan_step(const std::string& line)
{
    const auto step = count_of(number_after(line, "step:"), 0);
    const auto tps = positive(first_of(line, {"tps:", "wps:"}));
    if (!step || !tps)
        return {};
    LoggedStep out;
    out.step = *step;
    out.tps_per_gpu = tps;
    out.loss = number_after(line, "loss:");
    out.grad_norm = number_after(line, "grad_norm:");
    out.memory_gib = positive(number_after(line, "memory:"));
    out.tflops_per_gpu = positive(number_after(line, "tflops:"));
    if (const auto mfu = positive(number_after(line, "mfu:")))
        out.mfu = *mfu / 100;
    return out;
}

void read_facts(const std::string& line, TrainingLog& log)
{
    if (const auto gpus = count_of(first_of(line, {"using world size:", "world_size ", "World size:"}), 1))
        log.gpus = gpus;
    // The arguments are printed as "  seq_length ........ 8192".
    if (const std::size_t at = line.find(" seq_length ."); at != std::string::npos) {
        const std::size_t digits = line.find_first_of("0123456789", at);
        if (digits != std::string::npos) {
            if (const auto length = count_of(std::strtod(line.c_str() + digits, nullptr), 1))
                log.seq_len = length;
        }
    }
    log.out_of_memory = log.out_of_memory || line.find("CUDA out of memory") != std::string::npos
        || line.find("OutOfMemoryError") != std::string::npos;
}

} // namespace

Expected<TrainingLog> parse_training_log(std::string_view text, const std::string& where)
{
    if (const std::string_view kind = other_kind_of(text); !kind.empty())
        return Problem{ProblemCode::bad_input, "is " + std::string(kind) + ", expected text in UTF-8",
            "unpack or save it so", where};
    TrainingLog log;
    std::map<int, LoggedStep> steps;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string line = without_colours(text.substr(0, std::min<std::size_t>(end, 1u << 16)));
        text.remove_prefix(std::min(end + 1, text.size()));
        read_facts(line, log);
        auto step = megatron_step(line);
        const bool megatron = step.has_value();
        if (!step)
            step = torchtitan_step(line);
        if (!step)
            continue;
        if (log.stack.empty())
            log.stack = !megatron ? "torchtitan"
                : line.find("samples per second:") != std::string::npos || line.find("TFLOPs:") != std::string::npos
                ? "megatron-deepspeed"
                : "megatron-lm";
        steps[step->step] = *step;
        log.out_of_memory = false; // it was started again and went on
    }
    if (steps.empty())
        return Problem{ProblemCode::bad_input, "no line of a training step that is known",
            "lines of Megatron-LM, Megatron-DeepSpeed (\"iteration 100/ 500 | ...\") and torchtitan (\"step: 10 loss: "
            "...\") "
            "are",
            where};
    for (const auto& [number, step] : steps)
        log.steps.push_back(step);
    return log;
}

std::vector<Json> events_of_log(
    const TrainingLog& log, int global_batch, int seq_len, int gpus, const std::string& time)
{
    std::vector<Json> out;
    const auto add = [&](const auto& event) { out.push_back(event_of_import(out.size(), time, event)); };
    for (const LoggedStep& step : log.steps) {
        const double tokens = step.global_batch.value_or(global_batch) * seq_len;
        auto tps = step.tps_per_gpu;
        auto seconds = step.step_time_s;
        if (!tps && seconds && *seconds > 0)
            tps = tokens / *seconds / gpus;
        if (!seconds && tps && *tps > 0)
            seconds = tokens / *tps / gpus;
        StepEvent event;
        event.step = step.step;
        event.loss = step.loss;
        event.grad_norm = step.grad_norm;
        event.learning_rate = step.learning_rate;
        event.step_time_s = seconds;
        event.tps_per_gpu = tps;
        event.tflops_per_gpu = step.tflops_per_gpu;
        event.mfu = step.mfu;
        event.memory_peak_gib = step.memory_gib;
        event.samples = step.samples;
        event.loss_scale = step.loss_scale;
        add(event);
    }
    add(EndEvent{.status = std::string(name(log.out_of_memory ? RunState::oom : RunState::ok))});
    return out;
}

} // namespace fourfold
