// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedule_cells.h"

#include "core/base/text.h"

#include <array>
#include <charconv>
#include <optional>

namespace fourfold {
namespace {

constexpr int kMostChunks = 1 << 20, kMostMicroBatches = 1 << 20; // as in plans
constexpr std::string_view kExpected = "expected CHUNK LETTER MICRO-BATCH, e.g. 2F0, 2B0, 2I0, 2W0 or 2SEND_F0";

struct Word {
    std::string_view text;
    CellKind kind;
};
// Longer words first: "RESHARD" and "F" start differently, "SEND_F" and "SEND_B" do not.
constexpr std::array<Word, 11> kWords{{{"REDUCE_GRAD", CellKind::sharding}, {"UNSHARD", CellKind::sharding},
    {"RESHARD", CellKind::sharding}, {"SEND_F", CellKind::send_forward}, {"RECV_F", CellKind::receive_forward},
    {"SEND_B", CellKind::send_backward}, {"RECV_B", CellKind::receive_backward}, {"F", CellKind::forward},
    {"B", CellKind::backward}, {"I", CellKind::input_gradient}, {"W", CellKind::weight_gradient}}};

constexpr std::string_view kBlank = " \t\r\"";

// Takes a number off the front; empty when there is none or it is above `limit`.
std::optional<int> take_number(std::string_view& text, int limit)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || value >= limit || text.front() == '-')
        return std::nullopt;
    text.remove_prefix(std::size_t(end - text.data()));
    return value;
}

Expected<ScheduleCell> parse_cell(std::string_view text, const std::string& place, int column)
{
    const auto wrong = [&](const std::string& why) {
        return Problem{ProblemCode::bad_input, "found " + in_quotes(std::string(text)) + ", " + why, "", place};
    };
    ScheduleCell cell;
    cell.column = column;
    cell.text = text;
    std::string_view rest = text;
    const std::optional<int> chunk = take_number(rest, kMostChunks);
    if (!chunk)
        return wrong(std::string(kExpected));
    cell.chunk = *chunk;
    const Word* word = nullptr;
    for (const Word& known : kWords) {
        if (word == nullptr && rest.starts_with(known.text))
            word = &known;
    }
    if (word == nullptr)
        return wrong(std::string(kExpected));
    cell.kind = word->kind;
    rest.remove_prefix(word->text.size());
    if (rest.empty() && cell.kind == CellKind::sharding)
        return cell;
    const std::optional<int> micro_batch = rest.empty() ? std::nullopt : take_number(rest, kMostMicroBatches);
    if (!micro_batch || !rest.empty())
        return wrong("expected a micro-batch from 0 to " + std::to_string(kMostMicroBatches - 1)
            + " after the letter, e.g. 2F0");
    cell.micro_batch = *micro_batch;
    return cell;
}

// "(0F1;0B0)OVERLAP_F_B": its parts, or the cell itself.
Expected<void> add_cells(std::vector<ScheduleCell>& row, std::string_view text, const std::string& place, int column)
{
    if (!text.starts_with('(')) {
        FOURFOLD_TRY(ScheduleCell cell, parse_cell(text, place, column));
        row.push_back(std::move(cell));
        return {};
    }
    const auto close = text.find(')');
    if (close == std::string_view::npos || text.substr(close + 1) != "OVERLAP_F_B")
        return Problem{ProblemCode::bad_input,
            "found " + in_quotes(std::string(text)) + ", expected (ACTION;ACTION)OVERLAP_F_B", "", place};
    std::string_view parts = text.substr(1, close - 1);
    while (!parts.empty()) {
        const auto end = std::min(parts.find(';'), parts.size());
        FOURFOLD_TRY(ScheduleCell cell, parse_cell(trimmed(parts.substr(0, end), kBlank), place, column));
        row.push_back(std::move(cell));
        parts.remove_prefix(std::min(end + 1, parts.size()));
    }
    return {};
}

} // namespace

std::string cell_place(const std::string& where, std::size_t row, int column)
{
    return where + ", row " + std::to_string(row) + ", column " + std::to_string(column);
}

Expected<std::vector<std::vector<ScheduleCell>>> parse_schedule_cells(std::string_view text, const std::string& where)
{
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark))
        text.remove_prefix(kByteOrderMark.size());
    std::vector<std::vector<ScheduleCell>> rows;
    while (!text.empty()) {
        const auto line_end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, line_end);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        rows.emplace_back();
        for (int column = 1; !line.empty(); ++column) {
            const auto end = std::min(line.find(','), line.size());
            const std::string_view cell = trimmed(line.substr(0, end), kBlank);
            line.remove_prefix(std::min(end + 1, line.size()));
            if (!cell.empty())
                FOURFOLD_CHECK(add_cells(rows.back(), cell, cell_place(where, rows.size(), column), column));
        }
    }
    while (!rows.empty() && rows.back().empty())
        rows.pop_back();
    return rows;
}

} // namespace fourfold
