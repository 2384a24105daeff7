// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/shell.h"

#include "app/tui/help.h"
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/history/history_page.h"
#include "app/tui/pages/plan/plan_page.h"
#include "app/tui/pages/runs/runs_page.h"
#include "app/tui/pages/search/search_page.h"
#include "app/tui/start_form.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {
constexpr std::chrono::milliseconds kKeepAfter{1500}; // an edit is kept for a crash so soon
}

Shell::Shell(Desk& desk, Session session, const Json& kept, bool goes_back)
    : desk_(desk)
    , session_(std::move(session))
    , kernels_(desk)
{
    auto compare = std::make_unique<ComparePage>(desk);
    compare_ = compare.get();
    auto search = std::make_unique<SearchPage>(desk, *compare);
    pages_.push_back({"Plan", std::make_unique<PlanPage>(desk)});
    pages_.push_back({"Search", std::move(search)});
    auto runs = std::make_unique<RunsPage>(desk);
    runs_ = runs.get();
    auto history = std::make_unique<HistoryPage>(desk, *compare, *runs);
    history_ = history.get();
    projects_ = std::make_unique<Projects>(desk, *compare);
    desk.files().open_other = [this](const view::DroppedItem& item) { open_other(item); };
    history->show_trace = [this](StepTrace trace, view::TraceBeside beside) {
        kernels_.show(std::move(trace), std::move(beside));
        show_kernels();
    };
    pages_.push_back({"Compare", std::move(compare)});
    pages_.push_back({"Runs", std::move(runs)});
    pages_.push_back({"History", std::move(history)});
    if (!kept.is_object())
        return;
    const Json pages = kept.value("pages", Json::object());
    if (pages.is_object()) {
        desk_.keys().restore(pages.value("keys", Json()));
        const int notice = member_or(pages, "notice", 0);
        desk_.terminal().notice = static_cast<Notice>(std::clamp(notice, 0, static_cast<int>(Notice::none)));
    }
    for (const Entry& entry : pages_) {
        if (pages.is_object() && pages.contains(entry.name) && pages[entry.name].is_object())
            entry.page->restore(pages[entry.name]);
    }
    if (pages.is_object())
        projects_->restore(pages.value("projects", Json())); // after the pages: what is compared is the project's
    const int page = member_or(kept, "page", 0);
    if (goes_back && page > 0 && page < static_cast<int>(pages_.size()))
        desk_.go(static_cast<PageId>(page));
}

void Shell::run(Screen& screen)
{
    tick();
    draw(screen);
    while (!desk_.quits() && !screen.is_ending()) {
        screen.wait(patience());
        for (Key key = screen.key(); key.code != Key::none && !screen.is_ending(); key = screen.key()) {
            if (key.is_ctrl('z')) {
                keep_session();
                screen.suspend();
            } else if (key.code != Key::resize) {
                take(key);
            }
            settle_overlays();
            if (desk_.quits())
                break;
        }
        tick();
        settle_overlays();
        if (std::exchange(redraws_, false))
            screen.redraw();
        if (!desk_.quits() && !screen.is_ending() && screen.is_ready())
            draw(screen);
    }
    keep_session();
}

bool Shell::leave_run_behind()
{
    return runs_->leave_behind();
}

int Shell::patience() const
{
    int patience = desk_.next_tick();
    const auto want = [&patience](int wanted) {
        if (wanted >= 0 && (patience < 0 || wanted < patience))
            patience = wanted;
    };
    want(projects_->next_tick());
    for (const Entry& entry : pages_)
        want(entry.page->next_tick());
    for (const std::unique_ptr<Overlay>& overlay : desk_.overlays())
        want(overlay->next_tick());
    if (keep_at_) {
        const auto left
            = std::chrono::duration_cast<std::chrono::milliseconds>(*keep_at_ - std::chrono::steady_clock::now());
        want(std::max(0, static_cast<int>(left.count()) + 1));
    }
    return patience;
}

void Shell::tick()
{
    desk_.tick();
    projects_->tick();
    for (const Entry& entry : pages_)
        entry.page->tick();
    for (std::size_t i = 0; i < desk_.overlays().size(); ++i)
        desk_.overlays()[i]->tick();
    if (keep_at_ && std::chrono::steady_clock::now() >= *keep_at_)
        keep_session();
}

void Shell::keep_session()
{
    keep_at_.reset();
    projects_->keep();
    Json pages = Json::object();
    for (const Entry& entry : pages_)
        pages[entry.name] = entry.page->state();
    pages["keys"] = desk_.keys().state();
    pages["projects"] = projects_->state();
    pages["notice"] = static_cast<int>(desk_.terminal().notice);
    session_.keep(desk_, pages);
}

void Shell::settle_overlays()
{
    std::vector<std::unique_ptr<Overlay>>& overlays = desk_.overlays();
    for (std::size_t i = 0; i < overlays.size();) {
        if (!overlays[i]->is_over()) {
            ++i;
            continue;
        }
        const std::function<void()> done = std::move(overlays[i]->done);
        overlays.erase(overlays.begin() + static_cast<std::ptrdiff_t>(i));
        if (done)
            done();
        i = 0;
    }
}

void Shell::draw(Screen& screen)
{
    const int rows = screen.rows(), columns = screen.columns();
    if (canvas_.rows() != rows || canvas_.columns() != columns)
        canvas_ = Canvas(rows, columns);
    canvas_.clear();
    if (rows < kLeastRows || columns < kLeastColumns) {
        canvas_.text_in(0, 0, columns, text_of("Fourfold needs %d x %d characters", kLeastColumns, kLeastRows), kBold);
        screen.show(canvas_);
        return;
    }
    const Look look{screen.has_colors(), screen.has_few_colors()};
    canvas_.restyle({0, 0, 1, columns}, kReverse);
    int column = canvas_.text(0, 1, "Fourfold", {Ink::normal, Ink::normal, true, true}) + 1;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
        const bool on = static_cast<std::size_t>(desk_.page()) == i;
        pages_[i].column = column;
        const Style style = on ? kHeading : kReverse;
        const bool of_runs = pages_[i].page.get() == runs_;
        const char* moves = of_runs && runs_->is_moving() ? "\u25cf" : "";
        const char* warns = of_runs && runs_->has_unseen_alerts() ? "!" : "";
        column = canvas_.text(0, column, text_of(" %zu %s%s%s ", i + 1, pages_[i].name, moves, warns), style);
    }
    tabs_end_ = column;
    const int plans = desk_.plans().count();
    const std::string title = (plans == 1 ? "" : text_of("%d/%d ", desk_.plans().current_index() + 1, plans))
        + (desk_.plan().is_dirty() ? "*" : "") + desk_.plan().state().title()
        + (projects_->is_open() ? " - " + projects_->name() : std::string());
    canvas_.text_in(0, column + 1, columns - column - 2, title, kReverse, true);

    page().draw(canvas_, {1, 0, rows - 3, columns}, look);

    if (desk_.message().empty())
        canvas_.text_in(rows - 2, 1, columns - 2, page().remark(), kMuted);
    else
        draw_message(rows - 2);
    draw_hints(rows - 1);
    for (const std::unique_ptr<Overlay>& overlay : desk_.overlays())
        overlay->draw(canvas_, look);
    if (told_over_ && !desk_.overlays().empty())
        draw_message(rows - 2);
    screen.show(canvas_);
}

// The keys of what has them: of the page only while nothing stands over it.
void Shell::draw_hints(int row)
{
    const int columns = canvas_.columns();
    if (!desk_.overlays().empty()) {
        canvas_.text_in(row, 1, columns - 2, desk_.overlays().back()->hints(), kMuted);
        return;
    }
    const std::string everywhere = desk_.keys().shown("? keys  ^K find  q quit");
    canvas_.text_in(row, columns - width_of(everywhere) - 1, width_of(everywhere), everywhere, kMuted);
    canvas_.text_in(row, 1, columns - width_of(everywhere) - 4, desk_.keys().shown(page().hints()), kMuted);
}

// Up to three rows that end at this one, over the page: a name of a file may be long, and what is wrong comes behind
// it.
void Shell::draw_message(int last)
{
    constexpr std::size_t kMost = 3;
    const int columns = canvas_.columns() - 2;
    std::vector<std::string> lines = wrapped(desk_.message(), columns);
    if (lines.size() > kMost)
        lines = {fitted(desk_.message(), columns)};
    int row = last + 1 - static_cast<int>(lines.size());
    for (const std::string& line : lines) {
        canvas_.fill({row, 0, 1, canvas_.columns()}, U' ');
        canvas_.text_in(row++, 1, columns, line, style_of(desk_.message_tone()));
    }
}

void Shell::take(const Key& typed)
{
    Key key = typed;
    if (key.is_ctrl('l')) {
        redraws_ = true;
        return;
    }
    if (key.code == Key::ignored)
        return;
    told_over_ = false;
    if (key.is_of_drag()) { // of what the click before began
        if (desk_.overlays().empty())
            page().key(key);
        else
            desk_.overlays().back()->drag(key);
        return;
    }
    keep_at_ = std::chrono::steady_clock::now() + kKeepAfter;
    if (!desk_.overlays().empty()) {
        take_over_page(key);
        return;
    }
    desk_.forget_message();
    if (key.code == Key::character && !key.ctrl)
        key.letter = desk_.keys().meant(key.letter);
    if (key.code == Key::paste) {
        desk_.tell("There is no line to paste into", view::Tone::warning);
        return;
    }
    const bool is_tab = key.code == Key::click && key.row == 0; // of no page
    if (is_tab || !page().key(key))
        take_everywhere(key);
}

void Shell::take_over_page(const Key& key)
{
    Overlay& top = *desk_.overlays().back();
    const std::string text = key.is('y') ? top.copied() : std::string();
    if (text.empty()) {
        top.key(key);
        return;
    }
    desk_.terminal().copy("The text", text);
    told_over_ = true;
}

bool Shell::take_everywhere(const Key& key)
{
    if (key.code == Key::click && key.row == 0) {
        if (key.column >= tabs_end_) {
            desk_.tabs().ask_to_rename(); // its title was clicked
            return true;
        }
        for (std::size_t i = 0; i < pages_.size(); ++i) {
            if (key.column >= pages_[i].column)
                desk_.go(static_cast<PageId>(i));
        }
        return true;
    }
    if (key.code == Key::character && !key.ctrl && key.letter >= U'1'
        && key.letter < U'1' + static_cast<char32_t>(pages_.size())) {
        desk_.go(static_cast<PageId>(key.letter - U'1'));
        return true;
    }
    if (key.is('?') || key.code == Key::f1)
        show_help();
    else if (key.is_ctrl('k') || key.is(':'))
        desk_.open(finder());
    else if (key.is('u'))
        desk_.undo();
    else if (key.is_ctrl('r'))
        desk_.redo();
    else if (key.is_ctrl('s'))
        desk_.files().save();
    else if (key.is('w'))
        desk_.files().ask_to_save_as();
    else if (key.is('o'))
        desk_.files().ask_to_open();
    else if (key.is('{') || key.is('}'))
        desk_.tabs().step(key.is('}') ? 1 : -1);
    else if (key.is_ctrl('t'))
        desk_.tabs().copy();
    else if (key.is_ctrl('w'))
        desk_.unsaved().close_plan();
    else if (key.code == Key::f2)
        desk_.tabs().ask_to_rename();
    else if (key.is('y'))
        desk_.terminal().ask_to_copy(page().copies());
    else if (key.is('R'))
        desk_.rehearsals().rehearse();
    else if (key.is('K'))
        show_kernels();
    else if (key.is('N'))
        desk_.open(std::make_unique<StartForm>(desk_));
    else if (key.is('q') || key.is_ctrl('c') || key.code == Key::f10)
        leave();
    else
        return false;
    return true;
}

std::vector<Command> Shell::everywhere()
{
    std::vector<Command> commands;
    for (std::size_t i = 0; i < pages_.size(); ++i)
        commands.push_back({std::string("Go to ") + pages_[i].name, std::to_string(i + 1),
            [this, i] { desk_.go(static_cast<PageId>(i)); }});
    commands.insert(commands.end(),
        {{"New plan from three answers", "N", [this] { desk_.open(std::make_unique<StartForm>(desk_)); }},
            {"New plan, the example that runs on this computer", "",
                [this] { desk_.succeeded(desk_.files().open_start_plan()); }},
            {"Open a plan, or what else the window opens", "o", [this] { desk_.files().ask_to_open(); }},
            {"Save plan", "Ctrl+S", [this] { desk_.files().save(); }},
            {"Save plan as", "w", [this] { desk_.files().ask_to_save_as(); }},
            {"Next open plan, or the one before", "{ }", [this] { desk_.tabs().step(1); }},
            {"Overview of the open plans", "", [this] { desk_.tabs().ask_which(); }},
            {"Copy the plan into a tab of its own", "Ctrl+T", [this] { desk_.tabs().copy(); }},
            {"Close the plan", "Ctrl+W", [this] { desk_.unsaved().close_plan(); }},
            {"Rename the plan", "F2", [this] { desk_.tabs().ask_to_rename(); }},
            {"Copy a figure, a table or the command", "y", [this] { desk_.terminal().ask_to_copy(page().copies()); }},
            {"What tells of alerts and ends of runs", "", [this] { desk_.terminal().ask_notice(); }},
            {"Undo", "u", [this] { desk_.undo(); }}, {"Redo", "Ctrl+R", [this] { desk_.redo(); }},
            {"Rehearse the plan", "R", [this] { desk_.rehearsals().rehearse(); }},
            {"Show the rehearsal", "", [this] { desk_.rehearsals().show(); }},
            {"Kernels of a step, and traces beside them", "K", [this] { show_kernels(); }},
            {"Draw the screen again", "Ctrl+L", [this] { redraws_ = true; }}, {"Keys", "?", [this] { show_help(); }},
            {"Change a key", "", [this] { ask_to_change_key(desk_, page().commands(), everywhere()); }},
            {"All keys as at first", "",
                [this] {
                    desk_.keys().forget();
                    desk_.tell("The keys are as at first");
                }},
            {"User's guide", "", [this] { show_guide(desk_, page_name()); }}, {"Quit", "q", [this] { leave(); }}});
    for (Command& command : projects_->commands())
        commands.push_back(std::move(command));
    return commands;
}

std::unique_ptr<Picker> Shell::finder(bool of_all_pages)
{
    std::vector<Picker::Item> items;
    const auto add = [&](const std::vector<Command>& commands) {
        for (const Command& command : commands)
            items.push_back({command.text, desk_.keys().shown(command.keys), command.run});
    };
    add(page().commands());
    add(everywhere());
    for (std::size_t i = 0; of_all_pages && i < pages_.size(); ++i) {
        if (static_cast<std::size_t>(desk_.page()) == i)
            continue;
        for (const Command& command : pages_[i].page->commands())
            items.push_back({command.text, pages_[i].name, [this, i, run = command.run] {
                                 desk_.go(static_cast<PageId>(i));
                                 run();
                             }});
    }
    return std::make_unique<Picker>("Find", std::move(items));
}

void Shell::show_help()
{
    show_keys(desk_, page().hints(), page().commands(), everywhere());
}

void Shell::show_kernels()
{
    desk_.open(std::make_unique<KernelsBox>(kernels_));
}

void Shell::open_other(const view::DroppedItem& item)
{
    switch (item.kind) {
    case view::DroppedKind::plan:
        desk_.files().open(item.file);
        break;
    case view::DroppedKind::model:
        desk_.succeeded(desk_.files().import_model(item.file));
        break;
    case view::DroppedKind::run:
        desk_.go(PageId::history);
        history_->take(item.file);
        break;
    case view::DroppedKind::project:
        projects_->open(item.file);
        break;
    case view::DroppedKind::measurements:
        desk_.go(PageId::compare);
        compare_->questions().pick_row(item.file);
        break;
    case view::DroppedKind::trace:
        kernels_.open({item.file});
        show_kernels();
        break;
    case view::DroppedKind::tracker:
        desk_.go(PageId::history);
        history_->open_tracker(item.file);
        break;
    }
}

void Shell::leave()
{
    desk_.unsaved().ask_to_quit();
}

} // namespace fourfold::tui
