// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/choices.h"

#include "core/layout/training.h"
#include "core/plan/fields.h"
#include "core/plan/presets.h"

namespace fourfold::view {

namespace {
struct Words {
    const char* path; // of the field
    const char* spelling;
    const char* label;
    const char* word = nullptr; // where the label is longer than one
};
constexpr Words kChoiceWords[]{{"training.sharding", "none", "None (DDP)", "DDP"},
    {"training.sharding", "optimizer", "Optimizer (ZeRO-1)", "ZeRO-1"},
    {"training.sharding", "gradients", "Gradients (ZeRO-2)", "ZeRO-2"},
    {"training.sharding", "parameters", "Parameters (FSDP, ZeRO-3)", "FSDP"},
    {"training.sharding", "hybrid", "Hybrid (HSDP)", "HSDP"}, {"training.recompute", "none", "None"},
    {"training.recompute", "selective", "Selective (attention)", "Selective"},
    {"training.recompute", "full", "Full layers", "Full"}, {"training.precision", "fp32", "FP32"},
    {"training.precision", "fp16", "FP16 mixed"}, {"training.precision", "bf16", "BF16 mixed"},
    {"training.precision", "fp8", "FP8 mixed"}, {"training.precision", "nvfp4", "NVFP4 mixed (predicted only)"},
    {"training.attention", "flash1", "FlashAttention 1"}, {"training.attention", "flash2", "FlashAttention 2"},
    {"training.attention", "flash3", "FlashAttention 3"}, {"training.attention", "cudnn", "cuDNN"},
    {"training.attention", "fused-softmax", "Products, fused softmax"},
    {"training.attention", "unfused", "Products and softmax"}, {"training.cp_method", "ring", "Ring"},
    {"training.cp_method", "all-gather", "All-gather"}, {"training.cp_method", "ulysses", "Ulysses (all-to-all)"},
    {"training.optimizer", "adamw", "AdamW"}, {"training.optimizer", "adam", "Adam"},
    {"training.optimizer", "fused-adamw", "AdamW, fused"}, {"training.optimizer", "fused-adam", "Adam, fused"},
    {"training.optimizer", "muon", "Muon and AdamW"}, {"training.offload", "none", "Nothing"},
    {"training.offload", "activations", "Activations"}, {"training.offload", "optimizer", "Optimizer states"},
    {"training.fp8_recipe", "tensorwise", "A scale per tensor"}, {"training.fp8_recipe", "rowwise", "A scale per row"},
    {"training.fp8_recipe", "blockwise", "Blocks of 128"}, {"training.fp8_recipe", "mxfp8", "MXFP8 (blocks of 32)"},
    {"training.grad_dtype", "fp32", "FP32"}, {"training.grad_dtype", "bf16", "BF16"},
    {"training.grad_dtype", "fp16", "FP16"}, {"training.optimizer_state_dtype", "fp32", "FP32"},
    {"training.optimizer_state_dtype", "bf16", "BF16"}};

const Words* words_of(const std::string& path, const std::string& spelling)
{
    for (const Words& words : kChoiceWords) {
        if (path == words.path && spelling == words.spelling)
            return &words;
    }
    return nullptr;
}

std::vector<std::string> spellings_of(const std::string& path)
{
    if (path == "training.schedule") // a file has no word
        return spellings<Schedule>();
    const Field* field = find_field(path);
    return field ? field->choices : std::vector<std::string>();
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
    if (const Words* words = words_of(path, spelling))
        return words->label;
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return std::string(traits.label);
    }
    return spelling;
}

std::string short_choice_label(const std::string& path, const std::string& spelling)
{
    if (const Words* words = words_of(path, spelling); words != nullptr && words->word != nullptr)
        return words->word;
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return std::string(traits.short_label);
    }
    return choice_label(path, spelling);
}

std::vector<std::string> preset_choices(const Presets& presets, const std::string& kind)
{
    return kind == "stacks" ? presets.stack_choices() : presets.ids(kind);
}

} // namespace fourfold::view
