// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/stop_supervisor.h"

#include "runner/agent/supervision/run_watch.h"
#include "runner/agent/supervision/supervisor.h"

#include <signal.h>
#include <unistd.h>

namespace fourfold {

namespace {

using namespace std::chrono_literals;

constexpr auto kSlice = 500ms;
constexpr int kSlices = 10; // until a supervisor counts as hung
constexpr double kUntilGone = 5; // after SIGKILL; longer only where it waits in the kernel

bool wait_until(const std::function<bool()>& done, const std::function<void()>& meanwhile)
{
    for (const double until = monotonic_seconds() + kUntilGone; !done(); usleep(20000)) {
        if (monotonic_seconds() > until)
            return false;
        meanwhile();
    }
    return true;
}

// Does nothing to a process that is not stopped, nor to one that has taken its number.
void wake(pid_t process)
{
    if (process > 1)
        kill(process, SIGCONT);
}

bool answers(SupervisorLine& line, const std::function<void()>& meanwhile)
{
    for (int i = 0; i < kSlices; ++i) {
        meanwhile();
        if (line.ask({{"do", "look"}}, kSlice))
            return true;
        if (!line.connected())
            break;
    }
    return false;
}

} // namespace

std::optional<std::string> tell_supervisor(const RunFolder& folder, const std::string& run, int node,
    const StopRequest& stop, const std::function<void()>& meanwhile)
{
    SupervisorLine line(folder.path());
    Json request = to_json(stop);
    request["do"] = "stop";
    if (line.ask(request, kSlice))
        return std::string();
    if (!line.connected())
        return {};
    const ProcessIdentity supervisor = line.supervisor();
    const pid_t guardian = parent_of(supervisor.pid);
    const bool stopped = is_stopped(supervisor.pid);
    if (stopped) {
        send_signal(supervisor, SIGCONT);
        wake(guardian);
    }
    if (answers(line, meanwhile) || !line.connected()) // it may have ended them and itself meanwhile
        return stopped ? "its agent had been stopped by a signal; it runs again and is ending the ranks"
                       : std::string();
    StopRequest kept = stop;
    kept.why += (kept.why.empty() ? "" : "; ") + words_of_silence(supervisor) + " and was killed";
    (void)folder.write_stop(kept); // for who closes the run: its guardian, or we
    send_signal(supervisor, SIGKILL);
    wake(guardian);
    const int killed = sweep(run, node);
    const std::string what = words_of_silence(supervisor);
    if (!wait_until([&] { return !is_alive(supervisor); }, meanwhile))
        return what + " and cannot be killed (it waits in the kernel); " + processes_text(killed)
            + " of the run killed";
    const auto closed = [&] { // refused while the guardian does it
        const auto done = close_lost_run(folder, run, node);
        return done || done.error().code != ProblemCode::refused;
    };
    (void)wait_until(closed, meanwhile);
    return what + "; it was killed with " + processes_text(killed) + " of the run";
}

void end_guardian(const RunFolder& folder)
{
    std::error_code error;
    for (const ProcessIdentity& holder : holders_of(folder.file("lock"))) {
        // A session that looks at the same run has it open for a moment; a guardian lives in the run folder.
        if (std::filesystem::read_symlink("/proc/" + std::to_string(holder.pid) + "/cwd", error) == folder.path())
            send_signal(holder, SIGKILL);
    }
}

} // namespace fourfold
