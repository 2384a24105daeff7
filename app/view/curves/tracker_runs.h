// SPDX-License-Identifier: GPL-3.0-or-later
// Folders of TensorBoard and Weights & Biases that are open beside the history: their runs are read, and read on, on a
// thread of their own. Nothing is written there.
#pragma once

#include "app/view/background.h"
#include "app/view/curves/tracker_curve.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::view {

class TrackerRuns {
public:
    // `wake` is called on the thread when deliver() has something to do.
    explicit TrackerRuns(std::function<void()> wake);

    // The runs of a file or folder, besides those that are open. How many there are in it.
    Expected<std::size_t> open(const std::filesystem::path& path);
    void close(const std::string& id);
    [[nodiscard]] bool has(const std::string& id) const;
    [[nodiscard]] std::vector<std::string> ids() const;
    [[nodiscard]] const std::vector<std::filesystem::path>& paths() const { return paths_; } // that were opened

    // Begins to look what came to the runs since the last time, unless it is looking.
    void read();
    [[nodiscard]] bool is_reading() const { return reader_.is_running(); }
    // Puts what was read into `curves`; whether there was news. `problem`: why one could not be read, once.
    bool deliver(RunCurves& curves, std::string& problem);

private:
    struct Open {
        TrackedPlace place;
        bool has_failed = false; // which was said
    };
    struct Reading { // belongs to the thread while it works
        std::map<std::string, TrackerCurve> curves;
    };
    std::vector<Open> open_;
    std::vector<std::filesystem::path> paths_;
    std::shared_ptr<Reading> reading_ = std::make_shared<Reading>();
    struct News {
        std::vector<CurveRun> curves;
        std::vector<std::pair<std::string, std::string>> problems; // by run
    };
    std::shared_ptr<News> news_;
    Background reader_;
};

} // namespace fourfold::view
