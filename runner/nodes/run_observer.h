// SPDX-License-Identifier: GPL-3.0-or-later
// Who watches work on the nodes of a target, and answers what they ask.
#pragma once

#include "core/base/json.h"
#include "core/history/run_state.h"
#include "runner/ssh/questions.h"

#include <filesystem>
#include <optional>
#include <string>

namespace fourfold {

enum class LinkState { connected, silent, reconnecting };

// Called on the thread that called launch() or attach(); calls never overlap.
class RunObserver {
public:
    virtual ~RunObserver() = default;
    virtual void on_created(const std::string& /*run_id*/, const std::filesystem::path& /*folder*/) { }
    virtual void on_state(RunState, const std::string& /*what*/) { }
    // `fraction` in [0, 1] of the files being sent; `what` names host and file.
    virtual void on_staging(double /*fraction*/, const std::string& /*what*/) { }
    virtual void on_link(LinkState, const std::string& /*host*/) { }
    virtual void on_event(const Json& /*event*/) { }
    // A trusted answer stores the key in Fourfold's own known_hosts. The default refuses (batch mode never asks).
    virtual bool trust_host_key(const HostKeyQuestion&) { return false; }
    // Nothing declines; the default declines (batch mode never asks).
    virtual std::optional<std::string> secret(const SecretQuestion&) { return {}; }
    // What secret() gave was right: no other question follows from it.
    virtual void on_right_answer() { }
};

} // namespace fourfold
