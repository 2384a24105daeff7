// SPDX-License-Identifier: GPL-3.0-or-later
// The bodies of published measurements that the shipped stacks are fitted to.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/calibration/measured_table.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace fourfold {

struct Corpus {
    std::string id; // "4d", "bloom", ...: also the name of the stack's fit set
    std::string stack; // preset id
    std::vector<MeasuredTable> tables;
    std::vector<RowSplit> splits; // of its source
    std::vector<std::pair<std::size_t, std::size_t>> used; // table and row of what can be fitted or scored
    std::vector<FitRow> rows; // one for each of `used`

    [[nodiscard]] const MeasuredRow& measured(std::size_t i) const
    {
        return tables[used[i].first].rows[used[i].second];
    }
};

const std::vector<std::string>& corpus_ids();

// Looks for the table in presets/published of the source tree, then in `extra` (tables that do not ship).
Expected<Corpus> read_corpus(const std::string& id, const std::filesystem::path& extra, const Presets& presets);

// One measurement as the fitter takes it. Rows of the playbook with TP > 8 or under 5 % MFU do not enter the fit of
// step times (their weight is 0): what slows those runs is not the layout.
FitRow fit_row(const MeasuredRow& row);
// The rows that the playbook's figures are told for: TP <= 8 and at least 10 % MFU.
bool is_core(const MeasuredRow& row);

} // namespace fourfold
