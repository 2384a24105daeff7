// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/choices.h"

#include "app/models/shared/text.h"
#include "core/layout/training.h"

#include <QCoreApplication>

namespace fourfold::ui {

namespace {
struct Words {
    const char* spelling;
    const char* label;
    const char* word = nullptr; // where the label is longer than one
};
constexpr Words kWords[]{{"optimizer", QT_TRANSLATE_NOOP("Choices", "Optimizer (ZeRO-1)"), "ZeRO-1"},
    {"gradients", QT_TRANSLATE_NOOP("Choices", "Gradients (ZeRO-2)"), "ZeRO-2"},
    {"parameters", QT_TRANSLATE_NOOP("Choices", "Parameters (FSDP, ZeRO-3)"), "FSDP"},
    {"hybrid", QT_TRANSLATE_NOOP("Choices", "Hybrid (HSDP)"), "HSDP"},
    {"selective", QT_TRANSLATE_NOOP("Choices", "Selective (attention)"), "Selective"},
    {"full", QT_TRANSLATE_NOOP("Choices", "Full layers"), "Full"}, {"fp32", QT_TRANSLATE_NOOP("Choices", "FP32")},
    {"fp16", QT_TRANSLATE_NOOP("Choices", "FP16 mixed")}, {"bf16", QT_TRANSLATE_NOOP("Choices", "BF16 mixed")},
    {"fp8", QT_TRANSLATE_NOOP("Choices", "FP8 mixed")}};

std::vector<std::string> spellingsOf(const std::string& path)
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

std::vector<Choice> choicesOf(const std::string& path)
{
    std::vector<Choice> choices;
    for (const std::string& spelling : spellingsOf(path))
        choices.push_back({spelling, choiceLabel(path, spelling)});
    return choices;
}

QString choiceLabel(const std::string& path, const std::string& spelling)
{
    if (spelling == "none")
        return path == "training.sharding" ? QCoreApplication::translate("Choices", "None (DDP)")
                                           : QCoreApplication::translate("Choices", "None");
    for (const Words& words : kWords) {
        if (spelling == words.spelling)
            return QCoreApplication::translate("Choices", words.label);
    }
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return fromUtf8(traits.label);
    }
    return fromUtf8(spelling);
}

QString shortChoiceLabel(const std::string& path, const std::string& spelling)
{
    if (spelling == "none" && path == "training.sharding")
        return QStringLiteral("DDP");
    for (const Words& words : kWords) {
        if (spelling == words.spelling && words.word)
            return QCoreApplication::translate("Choices", words.word);
    }
    for (const ScheduleTraits& traits : schedules()) {
        if (spelling == traits.name)
            return fromUtf8(traits.short_label);
    }
    return choiceLabel(path, spelling);
}

} // namespace fourfold::ui
