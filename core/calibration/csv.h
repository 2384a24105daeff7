// SPDX-License-Identifier: GPL-3.0-or-later
// Comma-separated text (RFC 4180): quoted fields, doubled quotes, line breaks inside quotes; a byte-order mark and
// CR LF are accepted. The apostrophe that keeps a spreadsheet from running a field (core/report/table/table.h) is taken
// away.
#pragma once

#include "core/base/expected.h"

#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

struct CsvRecord {
    int line = 1; // where it begins, counted from 1
    std::vector<std::string> fields;
};

// All records, the header being the first; blank lines are left out. Fails on a quote that is never closed and on text
// that is not UTF-8; the Problem names `where` and the line.
Expected<std::vector<CsvRecord>> read_csv(std::string_view text, const std::string& where);

} // namespace fourfold
