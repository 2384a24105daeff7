// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/recalibrate_box.h"

#include "app/tui/linear/spoken.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr std::size_t kMostSpoken = 200; // rows: there is no key that goes to further ones
constexpr const char* kKeys = "Tab constants or runs  s save as a preset  Esc closes";
} // namespace

RecalibrateBox::RecalibrateBox(Desk& desk, std::shared_ptr<view::Recalibration> work)
    : desk_(desk)
    , work_(std::move(work))
    , stacks_(work_->stacks())
    , view_({}, 1)
{
    work_->start(stacks_.front().first);
}

std::string RecalibrateBox::title() const
{
    return "Recalibrate " + stacks_[stack_].first + " from " + view::counted(stacks_[stack_].second, "run");
}

Table RecalibrateBox::table() const
{
    return constants_ ? work_->constants_table() : work_->runs_table();
}

void RecalibrateBox::draw(Canvas& canvas, const Look&)
{
    const Rect inside = draw_frame(canvas, canvas.rows() - 4, canvas.columns() - 6, title());
    int row = inside.row;
    std::string text = printable_lines(work_->summary());
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        for (const std::string& line : wrapped(text.substr(begin, end - begin), inside.columns))
            canvas.text_in(
                row++, inside.column, inside.columns, line, work_->problem() ? style_of(view::Tone::bad) : Style{});
        begin = end + 1;
    }
    const int last = inside.row + inside.rows - 1;
    canvas.text_in(last, inside.column, inside.columns,
        (work_->has_result() ? kKeys : "Esc closes") + std::string(stacks_.size() > 1 ? "  t other stack" : ""),
        kMuted);
    if (!work_->has_result())
        return;
    canvas.text_in(
        ++row, inside.column, inside.columns, constants_ ? "Constants that move" : "Runs before and after", kHeading);
    const Table rows = table();
    std::vector<TableView::Column> heads;
    for (const Column& column : rows.columns)
        heads.push_back({column.title, !heads.empty() && column.key != "gpu" && column.key != "note", 34});
    view_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(rows.rows.size());
    content.text = [&](int at, int column) {
        return shown(rows.rows[static_cast<std::size_t>(at)][static_cast<std::size_t>(column)],
            rows.columns[static_cast<std::size_t>(column)]);
    };
    view_.draw(canvas, {row + 1, inside.column, std::max(1, last - row - 2), inside.columns}, content);
    if (content.rows == 0)
        canvas.text_in(row + 2, inside.column, inside.columns, "None", kMuted);
}

void RecalibrateBox::key(const Key& key)
{
    if (key.code == Key::escape || key.is('q') || key.is_ctrl('c')) {
        close();
    } else if (key.code == Key::tab || key.code == Key::back_tab) {
        constants_ = !constants_;
        view_.list = {};
    } else if (key.is('s') && work_->has_result()) {
        ask_to_save();
    } else if (key.is('t') && stacks_.size() > 1) {
        next_stack();
    } else {
        view_.key(key, static_cast<int>(table().rows.size()));
    }
}

void RecalibrateBox::next_stack()
{
    stack_ = (stack_ + 1) % stacks_.size();
    work_->start(stacks_[stack_].first);
}

void RecalibrateBox::ask_to_save()
{
    auto prompt = std::make_unique<Prompt>(
        "Save as a preset", work_->default_id(), [this](const std::string& text) -> std::string {
            const std::string id(trimmed(text));
            const Expected<std::filesystem::path> file = work_->save(id);
            if (!file)
                return file.error().line();
            desk_.tell(
                "Stack " + work_->name_in_plans(id) + " is saved: choose it under Stack on page 1", view::Tone::good);
            close();
            return {};
        });
    prompt->explain("The id of a stack of your own; plans that name it are predicted with these constants");
    desk_.open(std::move(prompt));
}

std::string RecalibrateBox::read_out()
{
    std::string text = title() + ".\n" + work_->summary() + "\n";
    std::vector<std::string> lines;
    if (work_->has_result())
        speak_rows(lines, table(), -1, kMostSpoken);
    for (const std::string& line : lines)
        text += line + "\n";
    if (work_->is_running())
        return text + "An empty line looks again, esc leaves\n";
    return text + (work_->has_result() ? "tab: constants or runs; s: save as a preset; " : "")
        + (stacks_.size() > 1 ? "t: other stack; " : "") + "esc leaves\n";
}

void RecalibrateBox::answer(const std::string& line)
{
    if (line == "s" || line == "t")
        key({Key::character, static_cast<char32_t>(line.front())});
    else if (line == "tab")
        key({Key::tab});
    else if (!line.empty())
        close();
}

} // namespace fourfold::tui
