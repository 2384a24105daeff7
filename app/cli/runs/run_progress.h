// SPDX-License-Identifier: GPL-3.0-or-later
// What a person sees of a run while it goes on, and its summary: shared by `run` and `attach`.
#pragma once

#include "app/cli/runs/dashboards.h"
#include "runner/runs/run.h"

#include <chrono>
#include <string>

namespace fourfold::cli {

// Writes progress lines to standard error, and with `json` each event as one line of standard output.
class RunProgress : public RunObserver {
public:
    RunProgress(bool json, bool accept_new_hosts, const DashboardOptions& dashboards = {});
    [[nodiscard]] bool has_created() const { return created_; } // a run was stored
    // Events with a seq below `count` were printed by somebody else.
    void skip_events(std::int64_t count) { printed_ = count; }
    // The dashboards get what the history has of a run that goes on already.
    void show_stored(const std::string& run_id);
    // The dashboards' files are whole.
    void finish_dashboards();
    void on_created(const std::string& run_id, const std::filesystem::path& folder) override;
    void on_state(RunState state, const std::string& what) override;
    void on_staging(double fraction, const std::string& what) override;
    void on_link(LinkState link, const std::string& host) override;
    void on_event(const Json& event) override;
    bool trust_host_key(const HostKeyQuestion& question) override;
    std::optional<std::string> secret(const SecretQuestion& question) override;

private:
    using Clock = std::chrono::steady_clock;
    void say(const std::string& text);
    void on_step(const Json& event);
    void show_held_step();
    bool due();

    // A run does not end because its dashboards cannot be written.
    void heed(const Expected<void>& shown);

    bool json_;
    bool accept_new_hosts_;
    bool created_ = false;
    std::int64_t printed_ = 0; // seq of the next event of --json
    Clock::time_point last_shown_{};
    Dashboards dashboards_;
    bool dashboards_fail_ = false;
    std::string held_step_; // the newest step that was too soon to show
};

// What a dry run says; its exit status.
int show(const LaunchPreview& preview, bool json);

// Prediction beside measurement, where the history and the folder of the run are; its exit status.
int finish(const RunResult& result, const std::filesystem::path& history_file, bool json);

} // namespace fourfold::cli
