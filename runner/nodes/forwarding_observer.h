// SPDX-License-Identifier: GPL-3.0-or-later
// Observers that pass everything on, for those that look at a part of it themselves.
#pragma once

#include "runner/nodes/run_observer.h"

#include <functional>
#include <utility>

namespace fourfold {

class ForwardingObserver : public RunObserver {
public:
    explicit ForwardingObserver(RunObserver& to) // outlives it
        : to_(to)
    {
    }
    void on_created(const std::string& run_id, const std::filesystem::path& folder) override
    {
        to_.on_created(run_id, folder);
    }
    void on_state(RunState state, const std::string& what) override { to_.on_state(state, what); }
    void on_staging(double fraction, const std::string& what) override { to_.on_staging(fraction, what); }
    void on_link(LinkState link, const std::string& host) override { to_.on_link(link, host); }
    void on_event(const Json& event) override { to_.on_event(event); }
    bool trust_host_key(const HostKeyQuestion& question) override { return to_.trust_host_key(question); }
    std::optional<std::string> secret(const SecretQuestion& question) override { return to_.secret(question); }
    void on_right_answer() override { to_.on_right_answer(); }

private:
    RunObserver& to_;
};

// Notes each run as soon as there is one, before anybody else hears of it.
class CreationObserver final : public ForwardingObserver {
public:
    CreationObserver(RunObserver& to, std::function<void(const std::string& run_id)> created)
        : ForwardingObserver(to)
        , created_(std::move(created))
    {
    }
    void on_created(const std::string& run_id, const std::filesystem::path& folder) override
    {
        created_(run_id);
        ForwardingObserver::on_created(run_id, folder);
    }

private:
    std::function<void(const std::string&)> created_;
};

} // namespace fourfold
