// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui`: the planner in a terminal.
#pragma once

#include "app/view/prediction/predictor.h"
#include "app/view/search/search_job.h"
#include "core/base/expected.h"

#include <filesystem>

namespace fourfold::tui {

struct TuiOptions {
    std::filesystem::path plan; // or a project's folder, to open; empty: where the last session was
    view::Predictor::Predict predict; // null: as every front end
    view::SearchJob::Find find; // likewise
    bool gives_advice = true;
    bool linear = false; // lines from top to bottom, commands typed as lines
};

// Until the person leaves; the terminal is then as it was. A Problem where the terminal or the plan cannot be used.
Expected<void> run_tui(const TuiOptions& options);

} // namespace fourfold::tui
