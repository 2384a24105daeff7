// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a sweep's cells, kept in data_folder()/sweeps so that an interrupted sweep goes on where it was.
#pragma once

#include "core/base/json.h"

#include <filesystem>
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
    // `identity` is everything that makes it the same sweep (plan, layouts, counts, target).
    static Expected<SweepRecord> open(const Json& identity, bool again);

    [[nodiscard]] const CellResult* find(const std::string& key) const;
    Expected<void> set(const std::string& key, const CellResult& result);
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    std::filesystem::path file_;
    Json identity_;
    std::map<std::string, CellResult> cells_;
};

} // namespace fourfold
