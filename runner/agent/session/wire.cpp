// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/wire.h"

#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"
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

Wire::Wire(int in, int out)
    : in_(in)
    , out_(out)
    , heard_(monotonic_seconds())
{
}

bool Wire::send(const Json& reply)
{
    std::string text = to_wire(reply);
    if (text.size() > kMaxFrameBytes)
        text = to_wire(error_reply({ProblemCode::unsupported,
            "the node's answer of " + std::to_string(text.size()) + " bytes is too large to be sent", {}, {}}));
    if (!write_fully(out_, encode_frame(FrameKind::json, text)))
        closed_ = true;
    return !closed_;
}

bool Wire::send_data(std::string_view bytes)
{
    if (!write_fully(out_, encode_frame(FrameKind::data, bytes)))
        closed_ = true;
    return !closed_;
}

std::optional<Frame> Wire::next_frame(int timeout_ms, int also)
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

int Wire::serve(const std::function<Expected<void>(const Json&)>& answer)
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
        if (const auto done = answer(*request); !done)
            send(error_reply(done.error()));
    }
    return parser_.in_frame() ? 1 : 0;
}

} // namespace fourfold
