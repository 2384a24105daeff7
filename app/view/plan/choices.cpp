// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/choices.h"

#include "core/layout/training.h"

namespace fourfold::view {

namespace {
struct Words {
    const char* spelling;
    const char* label;
    const char* word = nullptr; // where the label is longer than one
};
constexpr Words kChoiceWords[]{{"optimizer", "Optimizer (ZeRO-1)", "ZeRO-1"},
    {"gradients", "Gradients (ZeRO-2)", "ZeRO-2"}, {"parameters", "Parameters (FSDP, ZeRO-3)", "FSDP"},
    {"hybrid", "Hybrid (HSDP)", "HSDP"}, {"selective", "Selective (attention)", "Selective"},
    {"full", "Full layers", "Full"}, {"fp32", "FP32"}, {"fp16", "FP16 mixed"}, {"bf16", "BF16 mixed"},
    {"fp8", "FP8 mixed"}, {"nvfp4", "NVFP4 mixed (predicted only)"}};

std::vector<std::string> spellings_of(const std::string& path)
{
    if (path == "training.schedule")
        return spellings<Schedule>();
    if (path == "training.sharding")
        return spellings<Sharding>();
    if (path == "training.recompute")
        return spellings<Recompute>();
    return spellings<Precision>();
}
} // namespace

std::vector<Choice> choices_of(const std::string& path)
{
    std::vector<Choice> choices;
    for (const std::string& spelling : spellings_of(path))
        choices.push_back({spelling, choice_label(path, spelling)});
    return choices;
}

std::string choice_label(const std::string& path, const std::string& spelling)
{
    if (spelling == "none")
        return path == "training.sharding" ? "None (DDP)" : "None";
    for (const Words& words : kChoiceWords) {
        if (spelling == words.spelling)
            return words.label;
    }
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return std::string(traits.label);
    }
    return spelling;
}

std::string short_choice_label(const std::string& path, const std::string& spelling)
{
    if (spelling == "none" && path == "training.sharding")
        return "DDP";
    for (const Words& words : kChoiceWords) {
        if (spelling == words.spelling && words.word != nullptr)
            return words.word;
    }
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return std::string(traits.short_label);
    }
    return choice_label(path, spelling);
}

} // namespace fourfold::view
