// SPDX-License-Identifier: GPL-3.0-or-later
// One writer a format; Table::write chooses.
#pragma once

#include "core/report/table/table.h"

namespace fourfold {

std::string write_text(const Table& table); // numbers right, text left; two spaces between columns
std::string write_csv(const Table& table); // RFC 4180: CRLF, quotes where needed, full precision, unknown = empty
std::string write_markdown(const Table& table); // pipe table
std::string write_latex(const Table& table); // tabular with booktabs rules

} // namespace fourfold
