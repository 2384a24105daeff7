// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a published table as maps from column to text; `assumed` entries fill empty columns and add new ones.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace fourfold::test {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split_csv_line(const std::string& line)
{
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"')
                cells.back() += line[i++];
            else
                quoted = !quoted;
        } else if (line[i] == ',' && !quoted) {
            cells.emplace_back();
        } else if (line[i] != '\r') {
            cells.back() += line[i];
        }
    }
    return cells;
}

// No cell of the published tables holds a line break. Empty when the file cannot be read.
inline std::vector<Row> read_csv(const std::filesystem::path& file)
{
    std::ifstream in(file);
    std::string line;
    std::vector<Row> rows;
    if (!std::getline(in, line))
        return rows;
    const std::vector<std::string> header = split_csv_line(line);
    while (std::getline(in, line)) {
        const std::vector<std::string> cells = split_csv_line(line);
        Row row;
        for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i)
            row[header[i]] = cells[i];
        std::istringstream assumed(row["assumed"]);
        for (std::string entry; std::getline(assumed, entry, ';');) {
            const auto equals = entry.find('=');
            if (equals == std::string::npos)
                continue;
            if (std::string& value = row[entry.substr(0, equals)]; value.empty())
                value = entry.substr(equals + 1);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace fourfold::test
