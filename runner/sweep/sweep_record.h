// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a sweep's cells, kept in data_folder()/sweeps so that an interrupted sweep goes on where it was.
#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/json.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace fourfold {

struct CellResult {
    std::string status; // of the run: "ok", "oom", "hang", "fail", ...; "running": its end was not seen; "unfit":
                        // predicted not to fit and not run; "impossible": no layout
    std::string run; // id; empty when there was none
    std::string why; // for all but ok
    std::optional<double> tps_per_gpu, predicted_tps_per_gpu;
    // Measured or certain: not tried again.
    [[nodiscard]] bool final() const;
};

class SweepRecord {
public:
    // `identity` is everything that makes it the same sweep (plan, target, steps), but for its layouts and counts: a
    // line more in their file leaves what the others measured.
    static Expected<SweepRecord> open(const Json& identity, bool again);
    // Keeps other programs from measuring it at the same time, until the result is gone; `refused` where one does.
    [[nodiscard]] Expected<FileDescriptor> take() const;

    [[nodiscard]] const CellResult* find(const std::string& key) const;
    // Drops the cells whose runs the user has deleted: `gone` tells.
    void forget(const std::function<bool(const std::string& run)>& gone);
    Expected<void> set(const std::string& key, const CellResult& result);
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    Json identity_;
    std::map<std::string, CellResult> cells_;
};

} // namespace fourfold
