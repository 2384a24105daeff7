// SPDX-License-Identifier: GPL-3.0-or-later
// A run as one JSON document, out of one history and into another.
#pragma once

#include "core/history/store.h"

#include <string>

namespace fourfold {

// A run as one JSON object (plan, prediction, versions, events) that import_run() of another store takes. `id` may be
// any unique prefix of a run's id or "last".
Expected<Json> export_run(const HistoryStore& store, const std::string& id);
// The id of the run that was added; a document that is not whole adds nothing, a known id is a `conflict` Problem.
Expected<std::string> import_run(HistoryStore& store, const Json& run);

} // namespace fourfold
