// SPDX-License-Identifier: GPL-3.0-or-later
// What the pictures of a plan show, as tables: one for every front end.
#pragma once

#include "core/predict/bounds.h"
#include "core/predict/memory_curve.h"
#include "core/predict/prediction.h"
#include "core/report/table/table.h"
#include "core/schedule/steady_part.h"

namespace fourfold {

Table memory_table(const Prediction& prediction); // a row a stage
Table time_table(const Prediction& prediction); // a row a part of the step, those of no length left out
Table bounds_table(const Bounds& bounds); // a row a parallelism and link
Table curve_table(const MemoryCurve& curve); // a row an interval in which nothing is allocated or freed
// A row a bar, stage by stage; behind them a row a stage for micro-batches that have none.
Table spans_table(const ListedStep& step);
// A row a GPU: where it sits and which tp, cp, pp, dp it is; at most `most` rows.
Table ranks_table(const Layout& layout, int gpus_per_node, int most = 65'536);

} // namespace fourfold
