// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/session.h"

#include "runner/agent/node/facts.h"
#include "runner/protocol/message.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fourfold {

namespace {
// A client may wait for other nodes' uploads without a word; one that is silent for longer has lost its link, and the
// network did not tell.
constexpr double kSilentClient = 3600;
constexpr int kLookMs = 10000;
} // namespace

Session::Session(int in, int out)
    : in_(in)
    , out_(out)
    , heard_(monotonic_seconds())
{
}

bool Session::send(const Json& reply)
{
    std::string text = to_wire(reply);
    if (text.size() > kMaxFrameBytes)
        text = to_wire(error_reply({ProblemCode::unsupported,
            "the node's answer of " + std::to_string(text.size()) + " bytes is too large to be sent", {}, {}}));
    if (!write_fully(out_, encode_frame(FrameKind::json, text)))
        closed_ = true;
    return !closed_;
}

bool Session::send_data(std::string_view bytes)
{
    if (!write_fully(out_, encode_frame(FrameKind::data, bytes)))
        closed_ = true;
    return !closed_;
}

std::optional<Frame> Session::next_frame(int timeout_ms, int also)
{
    while (!closed_) {
        auto frame = parser_.next();
        if (!frame) {
            send(error_reply(frame.error()));
            closed_ = true;
            return {};
        }
        if (*frame)
            return std::move(*frame);
        std::array<pollfd, 2> waiting{{{in_, POLLIN, 0}, {also, POLLIN, 0}}}; // poll() leaves out negative ones
        const int ready = poll(waiting.data(), waiting.size(), timeout_ms < 0 ? kLookMs : timeout_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            closed_ = monotonic_seconds() - heard_ > kSilentClient;
            if (timeout_ms < 0)
                continue;
        }
        if (ready == 0 || waiting[0].revents == 0)
            return {};
        std::array<char, 65536> block; // not filled first: it is read often
        const ssize_t got = read(in_, block.data(), block.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            closed_ = true;
            return {};
        }
        heard_ = monotonic_seconds();
        parser_.feed({block.data(), static_cast<std::size_t>(got)});
    }
    return {};
}

int Session::run()
{
    while (!closed_) {
        const auto frame = next_frame(-1);
        if (!frame)
            continue;
        if (frame->kind == FrameKind::data) {
            // The rest of a file whose `put` was refused: the sender learns it from our answer to put-end.
            continue;
        }
        const auto request = parse_json(frame->payload, "request");
        if (!request) {
            send(error_reply(request.error()));
            continue;
        }
        handle(*request);
    }
    return parser_.in_frame() ? 1 : 0;
}

void Session::handle(const Json& request)
{
    const std::string what = text_field(request, "do");
    const auto dispatch = [&]() -> Expected<void> {
        if (what == "hello" && !files_only_)
            return hello(request);
        if (base_.empty())
            return Problem{ProblemCode::bad_input, "the first request must be hello", {}, {}};
        if (files_only_ && what != "put")
            return Problem{ProblemCode::refused, "a node of the chain may only send files", {}, {}};
        if (what == "have")
            return have(request);
        if (what == "put")
            return put(request);
        if (what == "chain")
            return chain(request);
        if (what == "relay")
            return relay(request);
        if (what == "prepare")
            return prepare(request);
        if (what == "start")
            return start(request);
        if (what == "tail")
            return tail(request);
        if (what == "ping" || what == "diagnose")
            return {}; // was on its way when the events ended; nobody waits for an answer
        if (what == "stop")
            return stop(request, [] {});
        if (what == "status")
            return status(request);
        if (what == "sweep")
            return sweep_run(request);
        if (what == "fetch")
            return fetch(request);
        if (what == "probe")
            return probe(request);
        if (what == "find")
            return find(request);
        if (what == "submit")
            return submit(request);
        if (what == "attempts")
            return attempts(request);
        if (what == "clear")
            return clear(request);
        if (what == "clock")
            return clock();
        if (what == "listen")
            return listen(request);
        if (what == "unlisten")
            return unlisten();
        if (what == "reach")
            return reach(request);
        return Problem{ProblemCode::unsupported, "this agent does not know the request \"" + what + "\"",
            "use the same version of Fourfold on both sides", {}};
    };
    if (const auto done = dispatch(); !done)
        send(error_reply(done.error()));
}

Expected<void> Session::hello(const Json& request)
{
    if (const auto protocol = integer_field(request, "protocol"); protocol != kProtocolVersion)
        return Problem{ProblemCode::unsupported,
            "this agent speaks protocol " + std::to_string(kProtocolVersion) + ", the client "
                + std::to_string(protocol),
            "use the same version of Fourfold on both sides", {}};
    group_writable_.clear();
    for (const Json& folder : array_field(request, "group_writable")) {
        if (folder.is_string())
            group_writable_.push_back(folder.get<std::string>());
    }
    FOURFOLD_TRY(base_, checked_base(text_field(request, "base"), group_writable_));
    store_ = std::make_unique<Store>(base_, group_writable_);
    Json reply = {{"is", "hello"}, {"protocol", kProtocolVersion}};
    const Json facts = node_facts(base_);
    for (const auto& [key, value] : facts.items())
        reply[key] = value;
    send(reply);
    return {};
}

Expected<RunFolder> Session::folder_of(const Json& request) const
{
    const std::string run = text_field(request, "run");
    const int64_t node = integer_field(request, "node");
    if (!is_run_id(run) || node < 0 || node > 100000)
        return Problem{ProblemCode::bad_input, "the request names no run", {}, {}};
    return RunFolder(base_, run, static_cast<int>(node));
}

} // namespace fourfold
