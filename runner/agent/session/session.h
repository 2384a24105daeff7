// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold-agent session`: answers requests on standard input until it ends. No run that it starts dies with it.
#pragma once

#include "runner/agent/session/job_requests.h"
#include "runner/agent/session/node_requests.h"
#include "runner/agent/session/run_requests.h"
#include "runner/agent/session/uploads.h"

#include <functional>
#include <map>
#include <string>

namespace fourfold {

class Session {
public:
    Session(int in, int out);
    // Until the peer closes its end; the process's exit status.
    int run();

private:
    Expected<void> answer(const Json& request);
    Expected<void> hello(const Json& request);

    Wire wire_;
    NodeBase node_;
    Uploads uploads_;
    NodeRequests looks_;
    RunRequests runs_;
    JobRequests jobs_;
    std::map<std::string, std::function<Expected<void>(const Json& request)>> answers_;
};

} // namespace fourfold
