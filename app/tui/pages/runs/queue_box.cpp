// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/queue_box.h"

#include "app/tui/linear/spoken.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr int kFixedColumns = 2; // number and state
constexpr int kLinesBelow = 4; // of the table: what is wrong with a run, the queue in words, keys

std::vector<TableView::Column> columns_of(const Table& table)
{
    std::vector<TableView::Column> columns;
    for (const fourfold::Column& column : table.columns)
        columns.push_back({column.title, column.key == "number" || column.key == "gpus" || column.key == "steps"});
    return columns;
}
} // namespace

QueueBox::QueueBox(Desk& desk, view::QueueView& queue, std::function<void(const std::string& run)> show)
    : desk_(desk)
    , queue_(queue)
    , show_(std::move(show))
    , table_({}, kFixedColumns)
    , looked_(std::chrono::steady_clock::now())
{
    queue_.look();
    table_.set_columns(columns_of(queue_.table()));
}

void QueueBox::tick()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < std::chrono::milliseconds(view::QueueView::kBetweenLooks))
        return;
    looked_ = now;
    const QueuedRun* const run = chosen();
    const std::int64_t number = run ? run->number : 0;
    queue_.look();
    choose(number);
}

const QueuedRun* QueueBox::chosen() const
{
    const auto& runs = queue_.contents().runs;
    const auto at = static_cast<std::size_t>(table_.list.selected);
    return at < runs.size() ? &runs[at] : nullptr;
}

void QueueBox::choose(std::int64_t number)
{
    const auto& runs = queue_.contents().runs;
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const QueuedRun& run) { return run.number == number; });
    if (at != runs.end())
        table_.list.selected = static_cast<int>(at - runs.begin());
}

void QueueBox::change(const std::function<Expected<void>(std::int64_t)>& edit)
{
    const QueuedRun* const run = chosen();
    const std::int64_t number = run ? run->number : 0;
    const Expected<void> done = edit(number);
    refusal_ = done ? "" : done.error().line();
    choose(number);
}

void QueueBox::show()
{
    const QueuedRun* const run = chosen();
    if (run && !run->run.empty())
        close([show = show_, id = run->run] { show(id); });
    else if (run)
        refusal_ = "it has no run yet: its turn has not come";
}

void QueueBox::draw(Canvas& canvas, const Look&)
{
    const Rect inside = draw_frame(canvas, canvas.rows() - 6, canvas.columns() - 6, "Queue of runs");
    const Table& table = queue_.table();
    const int count = static_cast<int>(table.rows.size());
    if (count == 0)
        canvas.text_in(inside.row, inside.column, inside.columns,
            desk_.keyed("Nothing waits. `a` on the page adds a run of the plan."));
    else
        table_.draw(canvas, {inside.row, inside.column, inside.rows - kLinesBelow, inside.columns},
            {count, [&table](int row, int column) {
                 const auto at = static_cast<std::size_t>(column);
                 return shown(table.rows[static_cast<std::size_t>(row)][at], table.columns[at]);
             }});
    int row = inside.row + inside.rows - kLinesBelow;
    const QueuedRun* const run = chosen();
    const std::string trouble = !refusal_.empty() ? refusal_ : run ? run->problem : std::string();
    for (const std::string& line : wrapped(trouble, inside.columns)) {
        if (row < inside.row + inside.rows - 2)
            canvas.text_in(row++, inside.column, inside.columns, line,
                style_of(refusal_.empty() ? view::Tone::warning : view::Tone::bad));
    }
    row = inside.row + inside.rows - 2;
    canvas.text_in(row, inside.column, inside.columns, queue_.summary(), kBold);
    canvas.text_in(row + 1, inside.column, inside.columns,
        std::string("< > earlier, later  D remove  p ") + (queue_.rests() ? "go on" : "pause")
            + "  c clear ended  Enter show  e export  Esc",
        kMuted);
}

void QueueBox::key(const Key& key)
{
    refusal_.clear();
    if (key.code == Key::escape || key.is('q') || key.is('Q') || key.is_ctrl('c'))
        close();
    else if (key.is('<') || key.is('>'))
        change([&](std::int64_t number) { return queue_.move(number, key.is('<') ? -1 : 1); });
    else if (key.is('D') || key.code == Key::erase)
        change([&](std::int64_t number) { return queue_.remove(number); });
    else if (key.is('p'))
        change([&](std::int64_t) { return queue_.toggle(); });
    else if (key.is('c'))
        change([&](std::int64_t) { return queue_.clear(); });
    else if (key.code == Key::enter)
        show();
    else if (key.is('e'))
        desk_.exports().ask("queue", [table = queue_.table()] { return table; });
    else
        table_.key(key, static_cast<int>(queue_.contents().runs.size()));
}

std::string QueueBox::read_out()
{
    std::string text = refusal_.empty() ? "" : refusal_ + "\n";
    text += "Queue of runs: " + queue_.summary() + "\n";
    std::vector<std::string> rows;
    speak_rows(rows, queue_.table());
    for (const std::string& row : rows)
        text += row + "\n";
    return text
        + "With a number: earlier, later, remove, show; without: pause or go on (p), clear, again; esc leaves\n";
}

void QueueBox::answer(const std::string& line)
{
    std::istringstream words{std::string(trimmed(line))};
    std::string word;
    std::int64_t number = 0;
    words >> word;
    if (words >> number)
        choose(number);
    const bool there = number == 0 || (chosen() && chosen()->number == number);
    if (word.empty() || word == kLeaves) {
        close();
        return;
    }
    static constexpr std::pair<std::string_view, char32_t> kKeys[]{{"earlier", U'<'}, {"later", U'>'}, {"remove", U'D'},
        {"p", U'p'}, {"pause", U'p'}, {"go", U'p'}, {"clear", U'c'}};
    if (!there)
        refusal_ = "the queue has no run of that number";
    else if (word == "show")
        key({Key::enter});
    else if (word == "again")
        queue_.look();
    for (const auto& [known, letter] : kKeys) {
        if (there && word == known)
            key({Key::character, letter});
    }
}

} // namespace fourfold::tui
