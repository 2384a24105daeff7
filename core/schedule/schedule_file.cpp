// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedule_file.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/schedule/schedule_cells.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace fourfold {
namespace {

using Rows = std::vector<std::vector<ScheduleCell>>;
constexpr std::size_t kNoPass = std::numeric_limits<std::size_t>::max();

// How far each kind of work of one chunk x micro-batch is: its position in the row.
struct Work {
    std::size_t forward = kNoPass, backward = kNoPass, input_gradient = kNoPass, weight_gradient = kNoPass;
    std::size_t send_forward = kNoPass, receive_forward = kNoPass, send_backward = kNoPass, receive_backward = kNoPass;
    bool forward_ran = false, gradient_ran = false;
    [[nodiscard]] std::size_t gradient() const { return std::min(backward, input_gradient); }
    std::size_t* of(CellKind kind)
    {
        switch (kind) {
        case CellKind::forward:
            return &forward;
        case CellKind::backward:
            return &backward;
        case CellKind::input_gradient:
            return &input_gradient;
        case CellKind::weight_gradient:
            return &weight_gradient;
        case CellKind::send_forward:
            return &send_forward;
        case CellKind::receive_forward:
            return &receive_forward;
        case CellKind::send_backward:
            return &send_backward;
        case CellKind::receive_backward:
            return &receive_backward;
        case CellKind::sharding:
            break;
        }
        return nullptr;
    }
};

std::optional<ActionKind> action_kind(CellKind kind)
{
    switch (kind) {
    case CellKind::forward:
        return ActionKind::forward;
    case CellKind::backward:
        return ActionKind::backward;
    case CellKind::input_gradient:
        return ActionKind::input_gradient;
    case CellKind::weight_gradient:
        return ActionKind::weight_gradient;
    default:
        return std::nullopt;
    }
}

class Checker {
public:
    Checker(const Rows& rows, std::string where)
        : rows_(rows)
        , where_(std::move(where))
    {
    }

    Expected<ScheduleFile> check()
    {
        if (rows_.empty())
            return wrong("the file has no action", "expected one row per rank, e.g. 0F0,0B0");
        FOURFOLD_CHECK(place_chunks());
        if (file_.micro_batches == 0) // UNSHARD and the like alone
            return wrong("the file has no pass", "expected one row per rank, e.g. 0F0,0B0");
        FOURFOLD_CHECK(sort_work());
        FOURFOLD_CHECK(check_complete());
        FOURFOLD_CHECK(check_order());
        if (lowered_)
            FOURFOLD_CHECK(check_transfers());
        collect_actions();
        FOURFOLD_CHECK(check_progress());
        return std::move(file_);
    }

private:
    [[nodiscard]] Problem wrong(const std::string& message, const std::string& hint) const
    {
        return {ProblemCode::bad_input, message, hint, where_};
    }
    [[nodiscard]] Problem wrong_at(
        std::size_t row, const ScheduleCell& cell, const std::string& message, const std::string& hint = "") const
    {
        return {ProblemCode::bad_input, message, hint, cell_place(where_, row + 1, cell.column)};
    }
    Work& work(int chunk, int micro_batch)
    {
        return work_[std::size_t(chunk) * std::size_t(file_.micro_batches) + std::size_t(micro_batch)];
    }
    [[nodiscard]] int chunks() const { return int(file_.stage_of_chunk.size()); }
    [[nodiscard]] std::size_t row_of(int chunk) const { return std::size_t(file_.stage_of_chunk[std::size_t(chunk)]); }
    [[nodiscard]] static std::string name(int chunk, const char* letter, int micro_batch)
    {
        return std::to_string(chunk) + letter + std::to_string(micro_batch);
    }

    Expected<void> place_chunks()
    {
        std::map<int, std::size_t> home;
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (rows_[row].empty())
                return wrong("row " + std::to_string(row + 1) + " has no action", "expected one row per rank");
            for (const ScheduleCell& cell : rows_[row]) {
                const auto [found, added] = home.emplace(cell.chunk, row);
                if (found->second != row)
                    return wrong_at(row, cell,
                        "\"" + cell.text + "\" is of stage " + std::to_string(cell.chunk) + ", which is on row "
                            + std::to_string(found->second + 1),
                        "a stage lives on one rank");
                file_.micro_batches = std::max(file_.micro_batches, cell.micro_batch + 1);
                cells_ += 1;
            }
        }
        const int most = home.rbegin()->first + 1;
        for (int chunk = 0; chunk < most && int(home.size()) < most; ++chunk) {
            if (!home.contains(chunk))
                return wrong("stage " + std::to_string(chunk) + " of " + std::to_string(most) + " has no action",
                    "stages count from 0 without a gap");
        }
        for (const auto& [chunk, row] : home)
            file_.stage_of_chunk.push_back(int(row));
        return {};
    }

    Expected<void> sort_work()
    {
        // A complete file has at least two actions a chunk and micro-batch: fewer cells than that cannot fill the
        // table, whose size a single large number would set.
        if (2.0 * chunks() * file_.micro_batches > double(cells_)) {
            const std::size_t expected = 2 * std::size_t(chunks()) * std::size_t(file_.micro_batches);
            return wrong(std::to_string(cells_) + " actions for " + std::to_string(chunks()) + " stages x "
                    + std::to_string(file_.micro_batches) + " micro-batches",
                "expected at least " + std::to_string(expected) + ": one F and one B (or I and W) each");
        }
        work_.resize(std::size_t(chunks()) * std::size_t(file_.micro_batches));
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            for (std::size_t i = 0; i < rows_[row].size(); ++i) {
                const ScheduleCell& cell = rows_[row][i];
                if (cell.kind == CellKind::sharding)
                    continue;
                std::size_t& position = *work(cell.chunk, cell.micro_batch).of(cell.kind);
                if (position != kNoPass)
                    return wrong_at(row, cell, "\"" + cell.text + "\" stands twice in the row",
                        "first in column " + std::to_string(rows_[row][position].column));
                position = i;
                lowered_ = lowered_ || !action_kind(cell.kind);
            }
        }
        return {};
    }

    Expected<void> check_complete()
    {
        for (int chunk = 0; chunk < chunks(); ++chunk) {
            for (int m = 0; m < file_.micro_batches; ++m) {
                const Work& w = work(chunk, m);
                const std::size_t row = row_of(chunk);
                const std::string what = "stage " + std::to_string(chunk) + ", micro-batch " + std::to_string(m) + ": ";
                const std::string at = "row " + std::to_string(row + 1) + ", ";
                if (w.forward == kNoPass)
                    return wrong(at + what + "no forward", "add " + name(chunk, "F", m));
                if (w.backward != kNoPass && (w.input_gradient != kNoPass || w.weight_gradient != kNoPass))
                    return wrong_at(row, rows_[row][w.backward], what + "a whole backward B beside I or W",
                        "write either B or I and W");
                if (w.backward == kNoPass && w.input_gradient == kNoPass)
                    return wrong(at + what + "no backward",
                        "add " + name(chunk, "B", m) + ", or " + name(chunk, "I", m) + " and " + name(chunk, "W", m));
                if (w.backward == kNoPass && w.weight_gradient == kNoPass)
                    return wrong(at + what + "I without its weight gradient", "add " + name(chunk, "W", m));
            }
        }
        return {};
    }

    Expected<void> check_order()
    {
        for (int chunk = 0; chunk < chunks(); ++chunk) {
            for (int m = 0; m < file_.micro_batches; ++m) {
                const Work& w = work(chunk, m);
                const std::size_t row = row_of(chunk);
                if (w.gradient() < w.forward)
                    return wrong_at(row, rows_[row][w.gradient()],
                        "\"" + rows_[row][w.gradient()].text + "\" stands before its forward " + name(chunk, "F", m));
                if (w.weight_gradient != kNoPass && w.weight_gradient < w.input_gradient)
                    return wrong_at(row, rows_[row][w.weight_gradient],
                        "\"" + rows_[row][w.weight_gradient].text + "\" stands before its input gradient "
                            + name(chunk, "I", m));
            }
        }
        return {};
    }

    // One transfer: sent after `made` on its row, received before `used` on the other; no transfer within a row.
    Expected<void> check_transfer(int from, int to, int m, bool forward)
    {
        const Work &source = work(from, m), &target = work(to, m);
        const std::size_t send = forward ? source.send_forward : source.send_backward;
        const std::size_t receive = forward ? target.receive_forward : target.receive_backward;
        const std::size_t made = forward ? source.forward : source.gradient();
        const std::size_t used = forward ? target.forward : target.gradient();
        const std::string sent = name(from, forward ? "SEND_F" : "SEND_B", m);
        const std::string received = name(to, forward ? "RECV_F" : "RECV_B", m);
        const std::size_t source_row = row_of(from), target_row = row_of(to);
        if (source_row == target_row) {
            if (send != kNoPass)
                return wrong_at(source_row, rows_[source_row][send], "\"" + sent + "\" sends to the rank itself",
                    "leave it out: both stages are on this row");
            return {};
        }
        const ScheduleCell &maker = rows_[source_row][made], &user = rows_[target_row][used];
        if (send == kNoPass || send < made)
            return wrong_at(source_row, maker,
                "no " + sent + " after \"" + maker.text + "\", which row " + std::to_string(target_row + 1) + " needs");
        if (receive == kNoPass || receive > used)
            return wrong_at(target_row, user, "no " + received + " before \"" + user.text + "\"");
        return {};
    }

    Expected<void> check_transfers()
    {
        for (int chunk = 0; chunk + 1 < chunks(); ++chunk) {
            for (int m = 0; m < file_.micro_batches; ++m) {
                FOURFOLD_CHECK(check_transfer(chunk, chunk + 1, m, true));
                FOURFOLD_CHECK(check_transfer(chunk + 1, chunk, m, false));
            }
        }
        return {};
    }

    void collect_actions()
    {
        for (const auto& row : rows_) {
            auto& list = file_.actions.emplace_back();
            for (const ScheduleCell& cell : row) {
                if (const auto kind = action_kind(cell.kind))
                    list.push_back({*kind, cell.micro_batch, cell.chunk});
            }
        }
    }

    // What the action waits for on another row, or on its own.
    [[nodiscard]] std::optional<std::pair<int, bool>> input_of(const Action& action) const
    {
        if (action.kind == ActionKind::weight_gradient)
            return std::nullopt; // its input gradient stands before it: check_order
        if (action.kind == ActionKind::forward)
            return action.chunk > 0 ? std::optional(std::pair(action.chunk - 1, true)) : std::nullopt;
        return action.chunk + 1 < chunks() ? std::optional(std::pair(action.chunk + 1, false)) : std::nullopt;
    }

    // Runs all rows as far as their inputs allow.
    Expected<void> check_progress()
    {
        std::vector<std::size_t> next(rows_.size(), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t row = 0; row < rows_.size(); ++row) {
                for (std::size_t& i = next[row]; i < file_.actions[row].size(); ++i) {
                    const Action& action = file_.actions[row][i];
                    if (const auto input = input_of(action)) {
                        const Work& source = work(input->first, action.micro_batch);
                        if (!(input->second ? source.forward_ran : source.gradient_ran))
                            break;
                    }
                    Work& own = work(action.chunk, action.micro_batch);
                    if (action.kind == ActionKind::forward)
                        own.forward_ran = true;
                    else
                        own.gradient_ran = true;
                    moved = true;
                }
            }
        }
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (next[row] == file_.actions[row].size())
                continue;
            const Action& action = file_.actions[row][next[row]];
            const auto input = *input_of(action);
            const Work &stuck = work(action.chunk, action.micro_batch), &source = work(input.first, action.micro_batch);
            const std::size_t at = action.kind == ActionKind::forward ? stuck.forward : stuck.gradient();
            const std::size_t source_row = row_of(input.first);
            const ScheduleCell& awaited = rows_[source_row][input.second ? source.forward : source.gradient()];
            return wrong_at(row, rows_[row][at],
                "the schedule deadlocks: \"" + rows_[row][at].text + "\" waits for \"" + awaited.text + "\" of row "
                    + std::to_string(source_row + 1) + ", column " + std::to_string(awaited.column)
                    + ", which never runs",
                "order the rows so that each action's input comes from an earlier one");
        }
        return {};
    }

    const Rows& rows_;
    std::string where_;
    ScheduleFile file_;
    std::vector<Work> work_; // chunk x micro-batch
    std::size_t cells_ = 0;
    bool lowered_ = false;
};

} // namespace

Expected<ScheduleFile> parse_schedule_file(std::string_view text, const std::string& where)
{
    FOURFOLD_TRY(const Rows rows, parse_schedule_cells(text, where));
    return Checker(rows, where).check();
}

Expected<ScheduleFile> read_schedule_file(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const std::string text, read_text_file(file));
    if (!is_utf8(text))
        return Problem{
            ProblemCode::bad_input, "this is not UTF-8 text, expected comma-separated values", "", file.string()};
    return parse_schedule_file(text, file.string());
}

} // namespace fourfold
