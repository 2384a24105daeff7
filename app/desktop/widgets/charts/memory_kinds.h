// SPDX-License-Identifier: GPL-3.0-or-later
// What the memory of a GPU holds and how each kind looks, in every chart the same; in the order of MemoryPoint::gib.
#pragma once

#include "app/desktop/widgets/cards/card.h"
#include "core/predict/prediction.h"

#include <QCoreApplication>

#include <vector>

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

// Where the legend names a kind, from the upper left of its place.
struct LegendPlace {
    QString text;
    int x = 0, line = 0;
};
inline constexpr int kLegendLine = 17; // its height at 100 % zoom
// Of all kinds in their order, then of `more` (empty: nothing), in as many lines as the width asks for.
std::vector<LegendPlace> placesOfMemoryKinds(int width, const QString& more = {});

} // namespace fourfold::ui
