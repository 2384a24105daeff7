// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/runs_page.h"

#include "app/tui/widgets/plot.h"
#include "app/view/history/history_access.h"
#include "app/view/plan/facts.h"
#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "runner/rehearsal/rehearse_plan.h"

#include <algorithm>
#include <charconv>

namespace fourfold::tui {

RunsPage::RunsPage(Desk& desk)
    : Page(desk)
    , job_(desk.wake())
    , rehearsal_(desk.wake())
{
}

void RunsPage::tick()
{
    rehearsal_.deliver();
    if (!came_back_to_.empty() && !job_.is_running()) {
        // Of a run that goes on, the next start comes back to it.
        const std::string id = std::exchange(came_back_to_, "");
        const Expected<RunDetail> detail = view::stored_run({}, id);
        if (detail && !is_terminal(detail->summary.state))
            follow(id);
    }
    for (const view::RunMessage& message : job_.take()) {
        run_.take(message);
        if (const auto* host_key = std::get_if<HostKeyQuestion>(&message))
            answer(*host_key);
        else if (const auto* secret = std::get_if<SecretQuestion>(&message))
            answer(*secret);
        else if (const auto* checked = std::get_if<view::NodesChecked>(&message))
            show_report(checked->report);
        else if (std::holds_alternative<view::RunEnded>(message))
            desk_.tell(std::string("The run: ") + view::state_label(run_.state()), view::state_tone(run_.state()));
    }
}

void RunsPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    draw_question(canvas, place);
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
    const int left = place.row + place.rows - row - 1;
    const int plot_rows = std::clamp(left * 3 / 5, 0, 18);
    if (plot_rows >= 6) {
        const int half = place.columns / 2 - 2;
        Plot speed;
        speed.title = "Tokens/s per GPU; grey: predicted";
        speed.x_label = "step";
        speed.x_text = [](double value) { return view::grouped(value); };
        speed.y_text = view::throughput_text;
        if (!run_.throughput().empty()) {
            const std::vector<view::Series::Point> points = run_.throughput().points();
            if (const std::optional<double>& expected = run_.expectation().tps_per_gpu)
                speed.series.push_back(
                    {{{points.front().first, *expected}, {points.back().first, *expected}}, Ink::grey});
            speed.series.push_back({points, Ink::blue});
        }
        draw_plot(canvas, {row + 1, place.column + 1, plot_rows, half}, speed, look);
        Plot loss;
        loss.title = "Loss";
        loss.x_label = "step";
        loss.x_text = speed.x_text;
        loss.y_text = [](double value) { return view::grouped(value, 3); };
        if (!run_.loss().empty())
            loss.series.push_back({run_.loss().points(), Ink::vermilion});
        draw_plot(canvas, {row + 1, place.column + half + 3, plot_rows, half}, loss, look);
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

void RunsPage::draw_question(Canvas& canvas, const Rect& place)
{
    int column = place.column + 1;
    if (job_.is_running() || run_.has_run()) {
        column = canvas.text(place.row, column, run_.title().empty() ? "Run" : run_.title(), kBold);
        canvas.text_in(place.row, column + 2, place.columns - column - 3, run_.folder().string(), kMuted);
        return;
    }
    column = canvas.text(place.row, column, "t", kHeading);
    column = canvas.text(place.row, column, " on ", kMuted);
    column = canvas.text(place.row, column, target_ == "local" ? "this computer" : target_, kBold);
    column = canvas.text(place.row, column, "  n", kHeading);
    column = canvas.text(place.row, column, " for ", kMuted);
    column = canvas.text(place.row, column, steps_ > 0 ? view::counted(steps_, "step") : "the plan's steps", kBold);
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (plan)
        canvas.text_in(place.row, column + 2, place.columns - column - 3,
            plan->model.name + ", " + view::layout_line(plan->layout), kMuted);
}

bool RunsPage::key(const Key& key)
{
    if (key.is('s'))
        ask_to_start();
    else if (key.is('x'))
        ask_to_stop();
    else if (key.is('d'))
        job_.detach();
    else if (key.is('f'))
        follow_which();
    else if (key.is('t'))
        ask_target();
    else if (key.is('n'))
        ask_steps();
    else if (key.is('c'))
        check_nodes();
    else if (key.is('R'))
        rehearse();
    else if (key.is('L'))
        show_log();
    else if (key.code == Key::enter)
        show_failure();
    else
        return false;
    return true;
}

void RunsPage::ask_target()
{
    std::vector<Picker::Item> items{{"this computer", "local", [this] { target_ = "local"; }}};
    for (const std::string& id : desk_.presets().ids("targets"))
        items.push_back({id, "target", [this, id] { target_ = id; }});
    items.push_back({"Hosts...", "user@host1,host2", [this] {
                         auto prompt = std::make_unique<Prompt>("Hosts", "", [this](const std::string& text) {
                             const Expected<Target> target = load_target(std::string(trimmed(text)));
                             if (target)
                                 target_ = trimmed(text);
                             return target ? std::string() : target.error().line();
                         });
                         prompt->explain("user@host1,host2:2222,node[01-16], or the file of a target");
                         desk_.open(std::move(prompt));
                     }});
    desk_.open(std::make_unique<Picker>("Run on", std::move(items)));
}

void RunsPage::ask_steps()
{
    auto prompt
        = std::make_unique<Prompt>("Steps", steps_ > 0 ? std::to_string(steps_) : "", [this](const std::string& text) {
              const std::string_view word = trimmed(text);
              int steps = 0;
              const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), steps);
              if (!word.empty() && (bad != std::errc() || end != word.data() + word.size() || steps < 1))
                  return std::string("expected a number of steps, or nothing for the plan's");
              steps_ = steps;
              return std::string();
          });
    prompt->explain("Empty: as the plan says");
    desk_.open(std::move(prompt));
}

void RunsPage::ask_to_start()
{
    if (job_.is_running()) {
        desk_.tell("A run is followed here: d leaves it, x stops it", view::Tone::warning);
        return;
    }
    const view::PlanState& state = desk_.plan().state();
    view::RunSetup setup
        = view::prepare_run(state.plan(), state.presets(), target_, steps_ > 0 ? std::optional(steps_) : std::nullopt);
    if (!setup.request) {
        desk_.tell(setup.refusal, view::Tone::bad);
        return;
    }
    const Expected<LaunchPreview> shown = preview(*setup.request);
    if (!shown) {
        desk_.tell(shown.error().line(), view::Tone::bad);
        return;
    }
    const std::string title = state.title();
    desk_.confirm("Start a run",
        title + " for " + view::counted(setup.steps, "step") + " on " + (target_ == "local" ? "this computer" : target_)
            + ".\n" + setup.note,
        "start it", [this, setup = std::move(setup), title] {
            run_.begin(title, setup.steps, setup.expectation);
            job_.start(*setup.request);
        });
}

void RunsPage::follow(const std::string& id)
{
    if (job_.is_running())
        return;
    run_.begin("", 0, {});
    job_.follow(id);
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

void RunsPage::ask_to_stop()
{
    if (!job_.is_running()) {
        rehearsal_.cancel();
        desk_.tell("No run is followed here");
        return;
    }
    desk_.confirm(
        "Stop the run", "It ends on all of its nodes; what it wrote stays.", "stop it", [this] { job_.stop(); });
}

void RunsPage::check_nodes()
{
    const Expected<Target> target = load_target(target_);
    if (!target) {
        desk_.tell(target.error().line(), view::Tone::bad);
    } else if (!job_.is_running()) {
        desk_.tell("Looking at the nodes...");
        job_.check(*target);
    }
}

void RunsPage::show_report(const Expected<ProbeReport>& report)
{
    if (!report)
        desk_.tell(report.error().line(), view::Tone::bad);
    else
        desk_.open(
            std::make_unique<Pager>("Nodes", to_json(*report).dump(1, ' ', false, Json::error_handler_t::replace)));
}

void RunsPage::show_failure()
{
    if (run_.failure())
        desk_.open(std::make_unique<Pager>("Failure", view::failure_text(*run_.failure())));
    else
        show_log();
}

void RunsPage::show_log()
{
    std::string text;
    for (const view::LogLine& line : run_.log())
        text += text_of("%-9s%-14s", line.time.c_str(), line.kind.c_str()) + line.text + "\n";
    desk_.open(std::make_unique<Pager>("Log", text.empty() ? "Nothing was said yet" : text));
}

void RunsPage::rehearse()
{
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (!plan || !desk_.plan().state().is_valid()) {
        desk_.tell("There is no valid plan to rehearse", view::Tone::bad);
        return;
    }
    desk_.tell("Rehearsing: the trainer plays every rank without values...");
    rehearsal_.start([this, plan = *plan](const std::stop_token& stop) -> view::Background::Done {
        Expected<Json> result = rehearse_plan({plan, {}}, stop);
        return [this, result = std::move(result)] {
            if (!result) {
                desk_.tell(result.error().line(), view::Tone::bad);
                return;
            }
            const bool fails = (*result)["problem"].is_string();
            std::string text = fails ? "# Would not run\n" + (*result)["problem"].get<std::string>() + "\n"
                                     : "# No rank waits for ever under NCCL's rules\n";
            for (const Json& stage : (*result)["stages"]) {
                text += "stage " + stage["pp"].dump();
                for (const char* key : {"peak_tensors_gib", "reserved_gib", "planned_gib"}) {
                    if (stage[key].is_number())
                        text += std::string("  ") + key + " " + view::gib(stage[key].get<double>());
                }
                text += "\n";
            }
            desk_.open(std::make_unique<Pager>("Rehearsal", text));
        };
    });
}

void RunsPage::answer(const HostKeyQuestion& question)
{
    desk_.open(std::make_unique<Question>("Unknown host",
        question.host + " shows a key of type " + question.key_type + " that was never seen here:\n"
            + question.fingerprint + "\nCompare it with what the host's owner says.",
        std::vector<Question::Choice>{{U'n', "refuse it", [this] { job_.answer_host_key(false); }},
            {U't', "trust it from now on", [this] { job_.answer_host_key(true); }},
            {U'c', "refuse", [this] { job_.answer_host_key(false); }}}));
}

void RunsPage::answer(const SecretQuestion& question)
{
    auto prompt = std::make_unique<Prompt>(
        question.host + ": " + question.prompt, "",
        [this](const std::string& text) {
            job_.answer_secret(text);
            return std::string();
        },
        !question.echo);
    prompt->or_else([this] { job_.answer_secret({}); });
    prompt->explain("Used once, stored nowhere");
    desk_.open(std::move(prompt));
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
    if (job_.is_running())
        return job_.is_following() ? "x stop  d leave  L log  Enter failure" : "x stop  L log  Enter failure";
    return "s start  f follow  c check nodes  R rehearse  L log";
}

std::vector<Command> RunsPage::commands()
{
    const auto press = [this](char32_t letter) { return [this, letter] { key({Key::character, letter}); }; };
    return {{"Start a run of this plan", "s", press('s')}, {"Stop the run", "x", press('x')},
        {"Follow a run", "f", press('f')}, {"Leave the run, which goes on", "d", press('d')},
        {"Where it runs", "t", press('t')}, {"Number of steps", "n", press('n')}, {"Check the nodes", "c", press('c')},
        {"Rehearse the plan", "R", press('R')}, {"Log of the run", "L", press('L')},
        {"Why it failed", "Enter", [this] { show_failure(); }}};
}

Json RunsPage::state() const
{
    return {{"target", target_}, {"steps", steps_}, {"run", is_terminal(run_.state()) ? "" : run_.id()}};
}

void RunsPage::restore(const Json& state)
{
    if (state.contains("target") && state["target"].is_string())
        target_ = state["target"].get<std::string>();
    if (state.contains("steps") && state["steps"].is_number_integer())
        steps_ = std::max(0, state["steps"].get<int>());
    if (state.contains("run") && state["run"].is_string())
        came_back_to_ = state["run"].get<std::string>();
}

} // namespace fourfold::tui
