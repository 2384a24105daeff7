// SPDX-License-Identifier: GPL-3.0-or-later
// Short facts that stand beside the inputs: what a plan's fields come to. Words around figures of the core.
#pragma once

#include "core/plan/plan.h"

#include <QString>

namespace fourfold::ui {

QString parametersFact(const ResolvedPlan& plan); // "70.6 B parameters"
QString gpusFact(const ResolvedPlan& plan); // "1,024 GPUs"
QString nodesFact(const ResolvedPlan& plan); // "128 nodes"
QString productFact(const ResolvedPlan& plan); // "8 x 2 x 8 x 8 = 1,024"
QString tensorFact(const ResolvedPlan& plan); // "inside one node", "across 2 nodes"
QString contextFact(const ResolvedPlan& plan); // "4,096 tokens per rank"
QString pipelineFact(const ResolvedPlan& plan); // "10 layers per stage", "10 to 11 layers per stage"
QString dataFact(const ResolvedPlan& plan); // "32 micro-batches"
QString expertFact(const ResolvedPlan& plan); // "32 experts per rank"; empty for a dense model
QString tokensFact(const ResolvedPlan& plan); // "8.4 M tokens per step"
QString intraNodeFact(const Cluster& cluster); // "switch", "pairs", "torus"
QString interNodeFact(const Cluster& cluster); // "10 us, 4 NICs"
QString gpuFact(const Gpu& gpu); // "76.0 GiB, 989 TFLOP/s BF16"
// "sequence 128 \u2192 8,192, micro-batch 16 \u2192 1"; empty where these are as before.
QString batchChange(const Training& before, const Training& after);
// "tp2 cp1 pp1 dp8", one line for lists and cards.
QString layoutLine(const Layout& layout);

} // namespace fourfold::ui
