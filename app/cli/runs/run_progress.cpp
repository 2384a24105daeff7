// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/run_progress.h"

#include "app/cli/history/history_view.h"
#include "app/cli/runs/terminal.h"
#include "app/cli/text/predict_text.h"
#include "core/history/event_types.h"
#include "core/history/store.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <utility>

namespace fourfold::cli {

namespace {

// Steps of a tiny model come in hundreds a second; an eye reads a few.
constexpr auto kBetweenSteps = std::chrono::milliseconds(200);

std::string padded(const std::string& value, std::size_t width)
{
    return std::string(width - std::min(width, value.size()), ' ') + value;
}

std::string step_line(const Json& event)
{
    std::string out = "step " + padded(shown_number(number_at(event, "step").value_or(0), 0), 6);
    if (const auto loss = number_at(event, "loss"))
        out += "  loss " + padded(shown_number(*loss, 4), 8);
    if (const auto tps = number_at(event, "tps_per_gpu"))
        out += "  " + padded(shown_number(*tps, 0), 8) + " TPS/GPU";
    if (const auto time = number_at(event, "step_time_s"))
        out += "  " + padded(duration_text(*time), 8) + "/step";
    if (const auto mfu = number_at(event, "mfu"))
        out += "  MFU " + shown_number(100 * *mfu, 1) + " %";
    if (const auto memory = number_at(event, "memory_peak_gib"))
        out += "  " + shown_number(*memory, 2) + " GiB";
    return out;
}

} // namespace

RunProgress::RunProgress(bool json, bool accept_new_hosts, const DashboardOptions& dashboards)
    : json_(json)
    , accept_new_hosts_(accept_new_hosts)
    , dashboards_(dashboards)
{
}

void RunProgress::heed(const Expected<void>& shown)
{
    if (!shown)
        warn(shown.error().line() + "; the run goes on without its dashboards");
    dashboards_fail_ = dashboards_fail_ || !shown;
}

void RunProgress::show_stored(const std::string& run_id)
{
    heed(dashboards_.begin(run_id));
}

void RunProgress::finish_dashboards()
{
    if (!dashboards_fail_)
        heed(dashboards_.finish());
}

void RunProgress::say(const std::string& text)
{
    std::cerr << Problem{ProblemCode::failed, text, "", ""}.line() + "\n" << std::flush;
}

bool RunProgress::due()
{
    const auto now = Clock::now();
    if (now - last_shown_ < kBetweenSteps)
        return false;
    last_shown_ = now;
    return true;
}

void RunProgress::on_created(const std::string& run_id, const std::filesystem::path& folder)
{
    if (std::exchange(created_, true))
        printed_ = 0; // a restart is a run of its own
    finish_dashboards();
    show_stored(run_id);
    say("run " + run_id + " in " + folder.string());
}

void RunProgress::on_state(RunState state, const std::string& what)
{
    show_held_step();
    say(std::string(name(state)) + (what.empty() ? "" : ": " + what));
}

void RunProgress::on_staging(double fraction, const std::string& what)
{
    if (fraction >= 1 || due())
        say("staging " + padded(shown_number(100 * fraction, 0), 3) + " %  " + what);
}

void RunProgress::on_link(LinkState link, const std::string& host)
{
    switch (link) {
    case LinkState::connected:
        say("connected to " + host);
        break;
    case LinkState::silent:
        say("no word from " + host + "; the run goes on there");
        break;
    case LinkState::reconnecting:
        say("reconnecting to " + host);
        break;
    }
}

void RunProgress::on_step(const Json& event)
{
    held_step_ = step_line(event);
    if (due())
        show_held_step();
}

void RunProgress::show_held_step()
{
    if (!held_step_.empty())
        say(held_step_);
    held_step_.clear();
}

void RunProgress::on_event(const Json& event)
{
    if (json_ && number_at(event, "seq").value_or(static_cast<double>(printed_)) >= static_cast<double>(printed_))
        std::cout << compact(event) << '\n' << std::flush;
    if (!dashboards_fail_)
        heed(dashboards_.add(event));
    const EventKind kind = kind_of(event);
    if (kind == EventKind::step) {
        on_step(event);
        return;
    }
    show_held_step();
    if (kind == EventKind::eval) {
        const EvalEvent held = read_event<EvalEvent>(event);
        say("eval " + padded(shown_number(double(held.step.value_or(0)), 0), 6) + "  held-out loss "
            + (held.loss ? shown_number(*held.loss, 4) : "unknown"));
    } else if (kind == EventKind::checkpoint) {
        const CheckpointEvent saved = read_event<CheckpointEvent>(event);
        say("checkpoint at step " + shown_number(double(saved.step.value_or(0)), 0) + ": " + saved.path);
    } else if (kind == EventKind::warning || kind == EventKind::error) {
        const auto rank = number_at(event, "rank");
        const WarningEvent said = read_event<WarningEvent>(event); // an error has host and message, too
        say(std::string(name(kind)) + (rank ? " of rank " + shown_number(*rank, 0) : "")
            + (said.host.empty() ? "" : " on " + said.host) + ": " + said.message);
    }
}

bool RunProgress::trust_host_key(const HostKeyQuestion& question)
{
    const std::string key = question.host + " has the " + question.key_type + " key " + question.fingerprint;
    if (accept_new_hosts_) {
        say("new host: " + key + "; accepted");
        return true;
    }
    if (!has_terminal())
        return false;
    const auto answer = ask("new host: " + key + "\ntrust it from now on? [y/N] ", false);
    return answer == "y" || answer == "Y" || answer == "yes";
}

std::optional<std::string> RunProgress::secret(const SecretQuestion& question)
{
    if (!has_terminal())
        return {};
    return ask((question.again ? "that was not right\n" : "") + question.host + ": " + question.prompt
            + (question.prompt.ends_with(' ') ? "" : " "),
        !question.echo);
}

int show(const LaunchPreview& preview, bool json)
{
    if (json)
        print_json(preview.document);
    else
        std::cout << preview.text << (preview.text.ends_with('\n') ? "" : "\n");
    return kDone;
}

int finish(const RunResult& result, const std::filesystem::path& history_file, bool json)
{
    const std::filesystem::path file = history_file.empty() ? HistoryStore::default_file() : history_file;
    const auto store = HistoryStore::open(file, StoreMode::read_only);
    auto detail = store ? store->show(result.id) : Expected<RunDetail>(store.error());
    if (json) {
        Json summary = detail ? summary_json(detail->summary) : Json{{"id", result.id}};
        summary["state"] = std::string(name(result.state));
        summary["folder"] = result.folder.string();
        summary["history"] = file.string();
        if (result.problem)
            summary["problem"] = result.problem->line();
        std::cout << compact({{"result", summary}}) << "\n";
    }
    if (detail) {
        std::ostream& out = json ? std::cerr : std::cout;
        out << "\n" << run_text(*detail);
        out << "\n  history    " << file.string() << "\n  folder     " << result.folder.string() << "\n" << std::flush;
        // One of a table never had a folder.
        if (std::error_code error; !result.id.starts_with("import-") && !std::filesystem::exists(result.folder, error))
            warn(
                result.folder.string() + ": the run's folder was removed while it went; its events are in the history");
    } else if (detail.error().code == ProblemCode::not_found) {
        warn(file.string() + ": the history was removed or replaced while the run went (`fourfold attach " + result.id
            + " --target T`, with the run's target, stores it again)");
    } else { // what could not be written is still in the run's folder on its nodes
        Problem problem = detail.error();
        problem.hint += (problem.hint.empty() ? "" : "; ") + std::string("afterwards `fourfold attach ") + result.id
            + " --target T`, with the run's target, stores what the history lacks";
        warn(problem.line());
    }
    if (!is_terminal(result.state) && !result.problem) {
        std::cerr << "fourfold: detached; the run goes on, `fourfold attach " << result.id << "` catches up\n";
        return kDone;
    }
    if (result.state == RunState::ok)
        return kDone;
    Problem problem = result.problem.value_or(Problem{ProblemCode::failed,
        "ended with status " + std::string(name(result.state)), "the logs are in " + result.folder.string(), ""});
    if (result.state == RunState::cancelled) {
        problem.message = "cancelled: " + problem.message;
        problem.hint = "the steps so far are in the history";
    }
    problem.where = "run " + result.id + (problem.where.empty() ? "" : ": " + problem.where);
    fail(problem);
    return kFailed; // whatever the cause, it came up while running
}

} // namespace fourfold::cli
