// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that TensorBoard's or Weights & Biases' loggers wrote, of whatever trainer, read where they lie and while they
// grow.
#pragma once

#include "core/base/json.h"
#include "core/dashboards/record_log.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

enum class Tracker { tensorboard, weights_and_biases };
const char* name_of(Tracker tracker); // "TensorBoard"

// Where a run lies. TensorBoard's are folders (a run that was resumed has several files), W&B's single files.
struct TrackedPlace {
    Tracker tracker = Tracker::tensorboard;
    std::filesystem::path path;
    std::string name; // by its folders, below the one that was searched
};
// In this file, or in the folder and those below it (eight levels, the first 1,000 runs), in order of their names.
// Fails (not_found) where there is none. `most_files`: how many of a folder are looked at.
Expected<std::vector<TrackedPlace>> tracked_runs(const std::filesystem::path& path, std::size_t most_files = 100'000);
// Whether there is one in a file or folder, as far as a look at names says it: for what is dragged over a window.
bool may_hold_tracked_runs(const std::filesystem::path& path);

// One number of a run.
struct TrackedValue {
    std::string_view tag; // "train/loss"; lives as long as the call
    std::int64_t step = 0;
    double time_s = 0; // since 1970
    double value = 0; // finite
};

class TrackedRun {
public:
    explicit TrackedRun(TrackedPlace place);
    [[nodiscard]] const TrackedPlace& place() const { return place_; }
    [[nodiscard]] const std::string& name() const { return name_; } // as the run calls itself, else of its folder
    [[nodiscard]] const std::vector<std::string>& tags() const { return tags_; }
    [[nodiscard]] bool has_ended() const { return ended_; } // said so itself (W&B)
    [[nodiscard]] std::size_t left_out() const; // damaged records

    // Gives what came since the last time. Where a file was begun anew all comes again, `begins` first.
    Expected<void> read(const std::function<void(const TrackedValue&)>& take, const std::function<void()>& begins);

private:
    void take_event(std::string_view record, const std::function<void(const TrackedValue&)>& take) const;
    void take_record(std::string_view record, const std::function<void(const TrackedValue&)>& take);
    void take_about(std::string_view run);

    TrackedPlace place_;
    std::string name_;
    std::vector<std::string> tags_;
    bool ended_ = false;
    std::map<std::string, RecordLog> logs_; // by file
};

} // namespace fourfold
