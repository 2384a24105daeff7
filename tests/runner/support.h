// SPDX-License-Identifier: GPL-3.0-or-later
// What the runner's tests share: a private home for everything, a tiny plan, an observer that remembers.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"
#include "runner/runs/run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fourfold::test {

// Whether every folder from / to this one can be written by root and this user only, as sshd's StrictModes demands of
// key files.
bool is_safe_place(std::filesystem::path folder);

// A folder of its own below the build folder, or in /tmp where the checkout is no safe place or has a name with blanks,
// removed at the end; HOME and the XDG folders point into it.
class Home {
public:
    Home();
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;
    ~Home();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    void end_processes() const;

    std::filesystem::path path_;
    std::map<std::string, std::string> before_;
};

// A folder for sockets and for programs that take no blank in a path: short, and plain letters, wherever the checkout
// lies. Removed at the end.
class PlainFolder {
public:
    PlainFolder();
    PlainFolder(const PlainFolder&) = delete;
    PlainFolder& operator=(const PlainFolder&) = delete;
    ~PlainFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::filesystem::path agent_program();
std::filesystem::path fake_trainer();

// A tiny Llama, tp 2 x dp `gpus`/2 (or dp alone for one GPU), `steps` steps on a small corpus in `home`; the
// environment reaches the fake trainer.
ResolvedPlan tiny_plan(const Home& home, int gpus, const std::map<std::string, std::string>& environment);
RunRequest request(const Home& home, int gpus, const std::map<std::string, std::string>& environment);

class Recording : public RunObserver {
public:
    void on_created(const std::string& id, const std::filesystem::path& folder) override;
    void on_state(RunState state, const std::string& what) override;
    void on_staging(double fraction, const std::string& what) override;
    void on_link(LinkState state, const std::string& host) override;
    void on_event(const Json& event) override;
    bool trust_host_key(const HostKeyQuestion& question) override;
    std::optional<std::string> secret(const SecretQuestion& question) override;
    void on_right_answer() override { ++right_answers; }

    std::string id;
    std::filesystem::path folder;
    std::vector<RunState> states;
    std::vector<std::string> texts;
    std::vector<std::string> staged; // what was sent
    std::vector<std::string> links; // "connected this computer"
    std::vector<Json> events;
    std::vector<HostKeyQuestion> questions;
    bool trust = false;
    std::vector<SecretQuestion> secrets_asked;
    std::vector<std::string> answers; // to them, in order; then declines
    int right_answers = 0;
    std::function<void(const Json&)> each_event;
    std::function<void(RunState, const std::string&)> each_state;
};

// A client in a process of its own, which can be killed and stopped. SIGTERM asks it to cancel the run, as Ctrl-C does
// in the command. It trusts no host key unless `prepare` says so.
class ClientProcess {
public:
    // Launches `request`; returns once the run has an id, or the client ended before it had one. `prepare` works on the
    // observer, in the new process.
    explicit ClientProcess(const RunRequest& request, const std::function<void(Recording&)>& prepare = {});
    ClientProcess(const ClientProcess&) = delete;
    ClientProcess& operator=(const ClientProcess&) = delete;
    ~ClientProcess(); // kills it

    [[nodiscard]] const std::string& id() const { return id_; } // of the run; empty: none was created
    void signal(int number) const;
    // Sends the signal unless it is 0, and waits. The exit status: 0 = the run ended ok; 128 + n: ended by signal n.
    int end(int signal = 0);

private:
    pid_t pid_ = 0;
    std::string id_;
};
pid_t parent_of(pid_t process); // 0: there is no such process

// Names of the steps' numbers, in order.
std::vector<int> steps_of(const std::vector<Json>& events);
// The last event of this kind; an empty object where there is none.
Json last_event(const std::vector<Json>& events, const std::string& kind);
// Fails the test unless `seq` counts from 0 without a gap and the last event is `end` with this status.
void expect_whole(const std::vector<Json>& events, const std::string& status);
// The whole lines of a file that may grow.
std::vector<Json> read_events(const std::filesystem::path& file);
// Processes whose environment carries FOURFOLD_RUN=<run>.
int processes_of(const std::string& run);
// The token by which the ranks of a run know each other, from the environment of a rank that runs; else empty.
std::string token_of(const std::string& run);
// Where a secret can be read: the command line of any process ("/proc/...") and files below `folder`.
std::vector<std::string> places_of(const std::string& secret, const std::filesystem::path& folder);
// The process of a rank on this computer; 0 where there is none.
pid_t rank_process(const std::string& run, int rank);
// Waits until `done` or `seconds` have passed; says whether it became true. On a busy computer all takes a while.
bool wait_until(const std::function<bool()>& done, double seconds = 120);

} // namespace fourfold::test
