// SPDX-License-Identifier: GPL-3.0-or-later
// A look at the nodes as tables: what each node has, how they reach each other, and what was found with its cure.
#pragma once

#include "core/report/table/table.h"
#include "runner/preflight/probe.h"

#include <QString>

namespace fourfold::ui {

Table nodesTable(const ProbeReport& report);
Table linksTable(const ProbeReport& report);
Table findingsTable(const ProbeReport& report);
// "2 nodes, ready for a run", "2 nodes, not ready: 1 error, 2 warnings".
QString probeVerdict(const ProbeReport& report);

} // namespace fourfold::ui
