// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/runs_page.h"

#include "app/tui/host_questions.h"
#include "app/tui/linear/spoken.h"
#include "app/tui/pages/runs/queue_box.h"
#include "app/tui/pages/runs/run_texts.h"
#include "app/tui/pages/runs/sweep_form.h"
#include "app/tui/pages/runs/trace_box.h"
#include "app/view/command_line.h"
#include "app/view/history/history_access.h"
#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace fourfold::tui {

RunsPage::RunsPage(Desk& desk)
    : Page(desk)
    , job_(desk.wake())
    , question_(desk)
    , nodes_(desk, job_)
    , charts_(desk, run_)
    , sweep_(desk)
{
}

void RunsPage::tick()
{
    if (!came_back_to_.empty() && !job_.is_running()) {
        // Of a run that goes on, the next start comes back to it.
        const std::string id = std::exchange(came_back_to_, "");
        const Expected<RunDetail> detail = view::stored_run({}, id);
        if (detail && !is_terminal(detail->summary.state))
            follow(id);
    }
    for (const view::RunMessage& message : job_.take())
        take(message);
    if (restarts_ && !job_.is_running()) {
        restarts_ = false;
        start(last_, last_title_);
    }
    if (!next_.empty() && !job_.is_running())
        follow(std::exchange(next_, ""));
    seen_alerts_ = desk_.page() == PageId::runs ? run_.alert_count() : std::min(seen_alerts_, run_.alert_count());
    if (desk_.page() == PageId::runs)
        look_at_queue();
}

void RunsPage::begin(const std::string& title, int steps, const view::RunExpectation& expectation)
{
    charts_.let_go();
    notices_.begin();
    run_.begin(title, steps, expectation);
}

void RunsPage::take(const view::RunMessage& message)
{
    const std::size_t alerts = run_.alert_count();
    run_.take(message);
    if (run_.alert_count() > alerts)
        take_alert(run_.alerts().back());
    if (const auto* event = std::get_if<Json>(&message); event != nullptr && desk_.run_event)
        desk_.run_event(run_.id(), *event);
    if (const auto* host_key = std::get_if<HostKeyQuestion>(&message))
        ask_host_key(desk_, *host_key, [this](bool trusted) { job_.answer_host_key(trusted); });
    else if (const auto* secret = std::get_if<SecretQuestion>(&message))
        ask_secret(
            desk_, *secret, [this](const auto& answer) { job_.answer_secret(answer); },
            [this] { return job_.is_checking_secret(); });
    else if (const auto* checked = std::get_if<view::NodesChecked>(&message))
        nodes_.show(checked->report);
    else if (const auto* moved = std::get_if<view::SweepMoved>(&message))
        sweep_.take(moved->table, moved->next);
    else if (const auto* swept = std::get_if<view::SweepEnded>(&message)) {
        if (swept->outcome)
            sweep_.take(*swept->outcome, {});
        else
            desk_.tell(swept->outcome.error().line(), view::Tone::bad);
    } else if (const auto* ended = std::get_if<view::RunEnded>(&message))
        take_end(*ended);
}

int RunsPage::next_tick() const
{
    if (job_.is_running())
        return 100;
    return desk_.page() == PageId::runs && queue_.is_live() ? view::QueueView::kBetweenLooks : -1;
}

void RunsPage::look_at_queue()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - queue_looked_ < std::chrono::milliseconds(view::QueueView::kBetweenLooks))
        return;
    queue_looked_ = now;
    queue_.look();
}

std::string RunsPage::remark() const
{
    return queue_.is_live() ? "Queue: " + queue_.summary() + desk_.keyed(" (`Q`)") : std::string();
}

void RunsPage::take_end(const view::RunEnded& end)
{
    if (!end.outcome && end.outcome.error().code != ProblemCode::cancelled && run_.id().empty())
        desk_.tell("The run did not start: " + end.outcome.error().line(), view::Tone::bad);
    else
        desk_.tell(std::string("The run: ") + view::state_label(run_.state()), view::state_tone(run_.state()));
    if (!run_.id().empty() && is_terminal(run_.state()))
        desk_.terminal().notify(view::run_end_notice(run_));
    if (!end.outcome || !end.outcome->events_left)
        return;
    desk_.confirm("Events",
        "More events came than the target's events_gib: the rest of run " + end.outcome->id + " is on its nodes.",
        "fetch all of them", [this, id = end.outcome->id] {
            if (job_.is_running())
                return;
            begin("", 0, {});
            job_.follow(id, {}, true);
        });
}

void RunsPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    charts_.hide();
    if (job_.is_running() || run_.has_run()) {
        const int column = canvas.text(place.row, place.column + 1, run_.title().empty() ? "Run" : run_.title(), kBold);
        canvas.text_in(place.row, column + 2, place.columns - column - 3, run_.folder().string(), kMuted);
    } else {
        question_.draw(canvas, place);
    }
    const std::array<view::Figure, 5> figures = run_.figures();
    int row = place.row + 2;
    for (const view::Figure& figure : figures) {
        canvas.text(row, place.column + 1, figure.title, kMuted);
        canvas.text_in(row, place.column + 14, 14,
            figure.value + (figure.unit.starts_with("of ") ? " " + figure.unit : ""),
            {style_of(figure.tone).ink, Ink::normal, true});
        const std::string rest
            = figure.basis + (figure.basis.empty() || figure.confidence.empty() ? "" : "; ") + figure.confidence;
        canvas.text_in(row++, place.column + 29, place.columns - 30, rest, kMuted);
    }
    if (!run_.link_trouble().empty())
        canvas.text_in(row++, place.column + 1, place.columns - 2, run_.link_trouble(), style_of(view::Tone::warning));
    if (!run_.alerts().empty()) {
        const view::RunAlert& newest = run_.alerts().back();
        const int column = canvas.text(row, place.column + 1,
            view::counted(double(run_.alert_count()), "alert") + desk_.keyed(" (`A`)"), style_of(view::Tone::warning));
        canvas.text_in(row++, column + 1, place.columns - column - 2, view::alert_line(newest),
            style_of(newest.stops ? view::Tone::bad : view::Tone::neutral));
    }
    const int left = place.row + place.rows - row - 1;
    const int plot_rows = std::clamp(left * 3 / 5, 0, 18);
    if (sweep_.is_there() && plot_rows >= 4) {
        sweep_.draw(canvas, {row + 1, place.column + 1, plot_rows, place.columns - 2});
        row += plot_rows + 1;
    } else if (plot_rows >= 6) {
        charts_.draw(canvas, {row + 1, place.column + 1, plot_rows, place.columns - 2}, look);
        row += plot_rows + 1;
    }
    const int lines = place.row + place.rows - row - 1;
    const auto count = static_cast<int>(run_.log().size());
    for (int i = 0; i < std::min(lines, count); ++i) {
        const view::LogLine& line = run_.log()[static_cast<std::size_t>(count - std::min(lines, count) + i)];
        const int at = row + 1 + i;
        canvas.text_in(at, place.column + 1, 8, line.time, kMuted);
        canvas.text_in(at, place.column + 10, 13, line.kind, style_of(line.tone));
        canvas.text_in(at, place.column + 24, place.columns - 25, line.text);
    }
}

std::vector<std::string> RunsPage::lines()
{
    if (!job_.is_running() && !run_.has_run())
        return question_.lines();
    std::vector<std::string> lines;
    lines.push_back((run_.title().empty() ? "Run" : run_.title()) + ", " + run_.folder().string());
    for (const view::Figure& figure : run_.figures())
        lines.push_back(spoken(figure));
    if (!run_.link_trouble().empty())
        lines.push_back(run_.link_trouble());
    constexpr std::size_t kMost = 10; // the newest ones; `A` reads all
    const std::deque<view::RunAlert>& alerts = run_.alerts();
    for (std::size_t i = alerts.size() - std::min(alerts.size(), kMost); i < alerts.size(); ++i)
        lines.push_back("Alert: " + view::alert_line(alerts[i]));
    if (sweep_.is_there())
        std::ranges::move(sweep_.lines(), std::back_inserter(lines));
    return lines;
}

std::vector<std::string> RunsPage::news()
{
    std::vector<std::string> lines;
    const std::size_t fresh = std::min(run_.log_count() - std::min(read_, run_.log_count()), run_.log().size());
    read_ = run_.log_count();
    for (std::size_t i = run_.log().size() - fresh; i < run_.log().size(); ++i)
        lines.push_back(run_.log()[i].time + " " + run_.log()[i].kind + ": " + run_.log()[i].text);
    return lines;
}

bool RunsPage::key(const Key& key)
{
    if (key.is('s'))
        ask_to_start();
    else if (key.is('x'))
        ask_to_stop();
    else if (key.is('r'))
        ask_to_restart();
    else if (key.is('d'))
        leave_run();
    else if (key.is('a')) {
        if (const std::optional<view::RunSetup> setup = question_.set_up())
            enqueue(*setup);
    } else if (key.is('Q'))
        show_queue();
    else if (key.is('f'))
        follow_which();
    else if (key.is('c'))
        nodes_.look(question_.target());
    else if (key.is('S'))
        ask_to_sweep();
    else if (key.is('e'))
        ask_to_export();
    else if (key.is('T'))
        desk_.exports().show_table("Curves of the run", charts_.table());
    else if (key.is('v'))
        show_trace();
    else if (key.is('h') || key.code == Key::left || key.is('l') || key.code == Key::right)
        charts_.move_cursor(key.is('h') || key.code == Key::left ? -1 : 1);
    else if (key.code == Key::click || key.code == Key::drag)
        return charts_.point_at(key);
    else if (key.is('O'))
        ask_for_output(desk_, run_);
    else if (key.is('L'))
        show_log(desk_, run_);
    else if (key.is('A'))
        show_alerts(desk_, run_);
    else if (key.code == Key::enter)
        show_failure(desk_, run_);
    else if (key.code == Key::escape)
        return charts_.let_go();
    else
        return question_.key(key);
    return true;
}

// Of somebody who looks elsewhere, or at another page.
void RunsPage::take_alert(const view::RunAlert& alert)
{
    const std::optional<view::RunNotice> notice = notices_.take(alert, run_.title());
    if (!notice)
        return;
    desk_.tell(notice->title + (desk_.page() == PageId::runs ? "" : "; 4 shows the run"),
        notice->urgent ? view::Tone::bad : view::Tone::warning);
    desk_.terminal().notify(*notice);
}

void RunsPage::show_trace()
{
    if (run_.trace())
        desk_.open(std::make_unique<TraceBox>(desk_, run_));
    else
        desk_.tell("No step of this run was traced yet");
}

void RunsPage::ask_to_export()
{
    if (sweep_.is_there())
        sweep_.ask_to_export();
    else
        charts_.ask_to_export();
}

std::vector<Copy> RunsPage::copies()
{
    std::vector<Copy> copies;
    if (run_.has_run()) {
        copies.push_back({"The figures", [this] {
                              std::string text;
                              for (const view::Figure& figure : run_.figures())
                                  text += spoken(figure) + "\n";
                              return text;
                          }});
        copies.push_back({"The curves as a table", [this] { return spreadsheet_rows(charts_.table()); }});
        if (!run_.id().empty())
            copies.push_back({"The command that follows the run", [id = run_.id()] {
                                  return view::command_line({"attach", id});
                              }});
    }
    offer_command(
        copies, "The command that runs the plan", "run", desk_.plan(), [this] { return question_.arguments(); });
    return copies;
}

std::optional<view::RunSetup> RunsPage::prepared()
{
    if (job_.is_running()) {
        desk_.tell(desk_.keyed("A run is followed here: `d` leaves it, `x` stops it"), view::Tone::warning);
        return {};
    }
    return question_.set_up();
}

void RunsPage::ask_to_sweep()
{
    const std::optional<view::RunSetup> setup = prepared();
    if (!setup)
        return;
    ask_for_sweep(desk_, *setup, [this, steps = setup->steps](SweepRequest request) {
        sweep_.forget();
        begin("Sweep", steps, {});
        job_.sweep(std::move(request));
    });
}

void RunsPage::ask_to_start()
{
    std::optional<view::RunSetup> made = prepared();
    if (!made)
        return;
    view::RunSetup& setup = *made;
    const std::string title = desk_.plan().state().title();
    const Expected<LaunchPreview> shown = preview(*setup.request);
    if (!shown) {
        desk_.tell(shown.error().line(), view::Tone::bad);
        return;
    }
    confirm_start(std::make_shared<const view::RunSetup>(std::move(setup)), title, shown->text);
}

void RunsPage::confirm_start(
    const std::shared_ptr<const view::RunSetup>& setup, const std::string& title, const std::string& what_it_does)
{
    const auto start = [this, setup, title] { this->start(setup, title); };
    const auto show = [this, setup, title, what_it_does] {
        confirm_start(setup, title, what_it_does); // asked again below what is shown
        desk_.open(std::make_unique<Pager>("What it does", what_it_does));
    };
    desk_.open(std::make_unique<Question>("Start a run",
        title + " for " + view::counted(setup->steps, "step") + " on " + question_.target_text() + ".\n" + setup->note,
        std::vector<Question::Choice>{{U'y', "start it", start},
            {U'a', "add it to the queue", [this, setup] { enqueue(*setup); }}, {U'p', "show what it does", show},
            {U'n', "no", {}}}));
}

void RunsPage::start(const std::shared_ptr<const view::RunSetup>& setup, const std::string& title)
{
    last_ = setup;
    last_title_ = title;
    sweep_.forget();
    begin(title, setup->steps, setup->expectation);
    job_.start(*setup->request);
}

void RunsPage::ask_to_restart()
{
    if (!last_) {
        desk_.tell(desk_.keyed("Nothing was started here yet; `s` starts a run"));
        return;
    }
    if (!job_.is_running()) {
        start(last_, last_title_);
        return;
    }
    const bool is_others = job_.is_following(); // of somebody else's making: it goes on
    desk_.confirm("Start again",
        last_title_ + " is started again; what is followed now "
            + (is_others ? "goes on and is left." : "ends on all of its nodes first."),
        "start again", [this, is_others] {
            restarts_ = true;
            is_others ? job_.detach() : job_.stop();
        });
}

void RunsPage::follow(const std::string& id)
{
    if (!job_.is_running()) {
        begin("", 0, {});
        job_.follow(id);
    } else if (job_.is_following()) {
        next_ = id;
        job_.detach();
    } else {
        desk_.tell("The run that was started here is shown until it ends");
    }
}

void RunsPage::enqueue(const view::RunSetup& setup)
{
    if (const Expected<std::int64_t> number = queue_.add(*setup.request); number)
        desk_.tell(text_of("Run %lld of the queue", static_cast<long long>(*number)) + desk_.keyed("; `Q` shows it"),
            view::Tone::good);
    else
        desk_.tell("The run does not wait for its turn: " + number.error().line(), view::Tone::bad);
}

void RunsPage::show_queue()
{
    desk_.open(std::make_unique<QueueBox>(desk_, queue_, [this](const std::string& run) { follow(run); }));
}

void RunsPage::follow_which()
{
    const Expected<std::vector<RunSummary>> runs = view::stored_runs({}, 100);
    if (!runs) {
        desk_.tell(runs.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    for (const RunSummary& run : *runs) {
        items.push_back({run.name + "  " + view::state_label(run.state), run.id, [this, id = run.id] { follow(id); }});
    }
    if (items.empty())
        desk_.tell("No run is stored yet");
    else
        desk_.open(std::make_unique<Picker>("Follow a run", std::move(items)));
}

void RunsPage::leave_run()
{
    if (!job_.is_running())
        desk_.tell("No run is followed here");
    else if (job_.is_following())
        job_.detach();
    else
        desk_.tell(desk_.keyed("What was started here is shown until it ends; `x` stops it, `q` leaves it going"));
}

void RunsPage::ask_to_stop()
{
    if (!job_.is_running()) {
        desk_.tell("No run is followed here");
        return;
    }
    desk_.confirm(
        "Stop the run", "It ends on all of its nodes; what it wrote stays.", "stop it", [this] { job_.stop(); });
}

bool RunsPage::leave_behind()
{
    if (!job_.is_running())
        return false;
    job_.leave_behind();
    return true;
}

std::string RunsPage::hints() const
{
    const std::string charts = "  h l read off  v traced step  L log";
    if (job_.is_running())
        return (job_.is_following() ? "x stop  d leave" : "x stop") + charts + "  Q queue";
    const std::string start = "s start  a queue it  Q queue  f follow  c check nodes";
    if (!run_.has_run())
        return start;
    return (run_.failure() ? "Enter why it failed  O output" : "O output") + charts + "  r again  " + start;
}

std::vector<Command> RunsPage::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    return {{"Start a run of this plan", "s", press('s')}, {"Stop the run", "x", press('x')},
        {"Add a run of this plan to the queue", "a", press('a')}, {"Queue of runs", "Q", press('Q')},
        {"Start the last run again", "r", press('r')}, {"Measure a table of layouts", "S", press('S')},
        {"Export the measured table, or a curve", "e", press('e')}, {"Follow a run", "f", press('f')},
        {"Leave the run, which goes on", "d", press('d')}, {"Where it runs", "t", press('t')},
        {"Number of steps", "n", press('n')}, {"Rehearse before a start, or not", "p", press('p')},
        {"Find a cluster", "F", press('F')}, {"Check the nodes", "c", press('c')},
        {"A step that was traced, beside the predicted one", "v", press('v')},
        {"Read the charts off at a step", "h l", press('l')}, {"Show the charts as a table", "T", press('T')},
        {"Alerts of the run's watch", "A", press('A')}, {"Log of the run", "L", press('L')},
        {"Output of a rank", "O", press('O')}, {"Why it failed", "Enter", [this] { show_failure(desk_, run_); }}};
}

Json RunsPage::state() const
{
    Json state = question_.state();
    state["run"] = is_terminal(run_.state()) ? "" : run_.id();
    return state;
}

void RunsPage::restore(const Json& state)
{
    question_.restore(state);
    came_back_to_ = member_or(state, "run", std::string());
}

} // namespace fourfold::tui
