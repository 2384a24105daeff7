// SPDX-License-Identifier: GPL-3.0-or-later
// What the memory of a GPU holds and how each kind looks, in every chart the same; in the order of MemoryPoint::gib.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "core/predict/prediction.h"

#include <QCoreApplication>

namespace fourfold::ui {

struct MemoryKind {
    const char* name; // to be translated
    double StageMemory::*gib;
    QColor Theme::*color;
    Card::Fill fill;
    [[nodiscard]] QString label() const { return QCoreApplication::translate("Memory", name); }
};

inline constexpr MemoryKind kMemoryKinds[]{
    {QT_TRANSLATE_NOOP("Memory", "Weights"), &StageMemory::weights, &Theme::weights, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("Memory", "Gradients"), &StageMemory::gradients, &Theme::gradients, Card::Fill::dotted},
    {QT_TRANSLATE_NOOP("Memory", "Optimizer"), &StageMemory::optimizer, &Theme::optimizer, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("Memory", "Activations"), &StageMemory::activations, &Theme::activations, Card::Fill::solid},
    {QT_TRANSLATE_NOOP("Memory", "Buffers"), &StageMemory::other, &Theme::buffers, Card::Fill::hatched}};

} // namespace fourfold::ui
