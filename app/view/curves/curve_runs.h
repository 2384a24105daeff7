// SPDX-License-Identifier: GPL-3.0-or-later
// The chosen runs of the history as curves, and those of trackers that are open beside them: what is lacking is read
// beside the owner, the history's one after the other.
#pragma once

#include "app/view/background.h"
#include "app/view/curves/run_curves.h"
#include "app/view/curves/tracker_runs.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fourfold::view {

class CurveRuns {
public:
    static constexpr std::size_t kMost = 100; // more are one grey field, and seconds to read
    // What recipes expect of the runs comes with them. `history`: instead of the user's, if not empty. `wake` is called
    // on the thread when deliver() has something to do.
    CurveRuns(std::filesystem::path history, std::function<void()> wake);

    // These runs and no others, the first kMost of them. False: it is these already, with as many steps.
    bool choose(const std::vector<RunSummary>& runs);
    // Begins to read the next run that is lacking, unless one is being read.
    void read();
    [[nodiscard]] bool is_reading() const { return reader_.is_running(); }
    // Takes runs that were read: whether there were any; read() goes on with the next. `problem`: why one could not be
    // read.
    bool deliver(std::string& problem);
    // Of a run that goes on; whether it was news.
    bool append(const std::string& run, const Json& event);

    // Runs of TensorBoard and Weights & Biases, which stay whatever is chosen. trackers().read() reads what they lack,
    // and what comes to them later; deliver() takes it.
    [[nodiscard]] TrackerRuns& trackers() { return trackers_; }
    [[nodiscard]] const TrackerRuns& trackers() const { return trackers_; }
    void close_tracker(const std::string& id);

    [[nodiscard]] RunCurves& curves() { return curves_; }
    [[nodiscard]] const RunCurves& curves() const { return curves_; }

private:
    void keep();

    std::filesystem::path history_;
    RunCurves curves_;
    std::vector<RunSummary> wanted_;
    Presets presets_;
    std::map<std::string, std::vector<std::string>> expected_; // by run: the ids of what its recipe expects
    int choice_ = 0; // counts choose()
    std::set<std::string> read_; // since choose(), whatever came of it
    std::string reading_; // the run that is being read
    std::map<std::string, std::vector<Json>> missed_; // events of wanted runs that what is read may not have
    std::string problem_; // of the run that was read last
    Background reader_;
    TrackerRuns trackers_;
};

} // namespace fourfold::view
