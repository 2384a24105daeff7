// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/session.h"

#include "runner/agent/node/facts.h"
#include "runner/protocol/message.h"

#include <unistd.h>

namespace fourfold {

Session::Session(int in, int out)
    : wire_(in, out)
    , uploads_(wire_, node_)
    , looks_(wire_, node_)
    , runs_(wire_, node_)
    , jobs_(wire_, node_)
{
    // Was on its way when the events of a run ended: nobody waits for an answer.
    const auto ignore = [](const Json&) -> Expected<void> { return {}; };
    answers_ = {
        {"have", [this](const Json& request) { return uploads_.have(request); }},
        {"put", [this](const Json& request) { return uploads_.put(request); }},
        {"chain", [this](const Json& request) { return uploads_.chain(request); }},
        {"relay", [this](const Json& request) { return uploads_.relay(request); }},
        {"prepare",
            [this](const Json& request) {
                looks_.end();
                uploads_.end();
                return runs_.prepare(request);
            }},
        {"start", [this](const Json& request) { return runs_.start(request); }},
        {"tail", [this](const Json& request) { return runs_.tail(request); }},
        {"ping", ignore},
        {"diagnose", ignore},
        {"stop", [this](const Json& request) { return runs_.stop(request, [] {}); }},
        {"status", [this](const Json& request) { return runs_.status(request); }},
        {"kept", [this](const Json& request) { return runs_.kept(request); }},
        {"sweep", [this](const Json& request) { return runs_.sweep_run(request); }},
        {"fetch", [this](const Json& request) { return runs_.fetch(request); }},
        {"find", [this](const Json& request) { return runs_.find(request); }},
        {"submit", [this](const Json& request) { return jobs_.submit(request); }},
        {"attempts", [this](const Json& request) { return jobs_.attempts(request); }},
        {"probe", [this](const Json& request) { return looks_.probe(request); }},
        {"clear", [this](const Json& request) { return looks_.clear(request); }},
        {"clock", [this](const Json&) { return looks_.clock(); }},
        {"listen", [this](const Json& request) { return looks_.listen(request); }},
        {"unlisten", [this](const Json&) { return looks_.unlisten(); }},
        {"reach", [this](const Json& request) { return looks_.reach(request); }},
    };
}

int Session::run()
{
    return wire_.serve([this](const Json& request) { return answer(request); });
}

Expected<void> Session::answer(const Json& request)
{
    const std::string what = text_field(request, "do");
    if (what == "hello")
        return hello(request);
    if (node_.base.empty())
        return Problem{ProblemCode::bad_input, "the first request must be hello", {}, {}};
    const auto known = answers_.find(what);
    if (known == answers_.end())
        return Problem{ProblemCode::unsupported, "this agent does not know the request \"" + what + "\"",
            "use the same version of Fourfold on both sides", {}};
    return known->second(request);
}

Expected<void> Session::hello(const Json& request)
{
    if (const auto protocol = integer_field(request, "protocol"); protocol != kProtocolVersion)
        return Problem{ProblemCode::unsupported,
            "this agent speaks protocol " + std::to_string(kProtocolVersion) + ", the client "
                + std::to_string(protocol),
            "use the same version of Fourfold on both sides", {}};
    // Processes are told apart by what stands there.
    if (access("/proc/self/stat", R_OK) != 0)
        return Problem{ProblemCode::unsupported, "ranks cannot be watched: /proc is not mounted",
            "mount it, also in a container or a name space", {}};
    node_.group_writable.clear();
    for (const Json& folder : array_field(request, "group_writable")) {
        if (folder.is_string())
            node_.group_writable.push_back(folder.get<std::string>());
    }
    FOURFOLD_TRY(node_.base, checked_base(text_field(request, "base"), node_.group_writable));
    node_.store = std::make_unique<Store>(node_.base, node_.group_writable);
    Json reply = {{"is", "hello"}, {"protocol", kProtocolVersion}};
    const Json facts = node_facts(node_.base);
    for (const auto& [key, value] : facts.items())
        reply[key] = value;
    wire_.send(reply);
    return {};
}

} // namespace fourfold
