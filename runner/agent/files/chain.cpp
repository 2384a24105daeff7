// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/files/chain.h"

#include "runner/net/proof.h"
#include "runner/protocol/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace fourfold {

namespace {

constexpr int kStallSeconds = 20; // a next node that takes or says nothing for so long is left alone
constexpr unsigned kAcceptSeconds = 120;
constexpr int kMostSenders = 4;

void tune(int fd)
{
    set_no_delay(fd);
    const timeval limit{kStallSeconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

} // namespace

std::optional<ChainLink> chain_link(const Json& json)
{
    ChainLink link{
        text_field(json, "address"), static_cast<int>(integer_field(json, "port")), text_field(json, "token")};
    if (link.port <= 0 || link.port > 65535 || !is_token(link.token))
        return {};
    return link;
}

Downstream::Downstream(FileDescriptor fd)
    : fd_(std::move(fd))
{
}

Expected<Downstream> Downstream::connect(const ChainLink& link, double timeout_s)
{
    FOURFOLD_TRY(FileDescriptor fd, connect_to(link.address, link.port, timeout_s));
    if (const auto proved = prove(fd.get(), link.token, kForFiles, seconds_from_now(timeout_s)); !proved)
        return Problem{ProblemCode::network, "the next node of the chain: " + proved.error().message, {}, link.address};
    tune(fd.get());
    return Downstream(std::move(fd));
}

void Downstream::send(FrameKind kind, std::string_view payload)
{
    if (fd_.valid() && !write_fully(fd_.get(), encode_frame(kind, payload)))
        fd_.close();
}

std::optional<Json> Downstream::reply()
{
    while (fd_.valid()) {
        const auto frame = parser_.next();
        if (!frame)
            break;
        if (*frame) {
            auto json = (*frame)->kind == FrameKind::json ? parse_json((*frame)->payload, "next node")
                                                          : Expected<Json>(Problem{});
            if (json && text_field(*json, "is") != "error")
                return *std::move(json);
            break;
        }
        pollfd waiting{fd_.get(), POLLIN, 0};
        std::array<char, 65536> block{};
        const ssize_t got
            = poll(&waiting, 1, kStallSeconds * 1000) > 0 ? read(fd_.get(), block.data(), block.size()) : 0;
        if (got <= 0)
            break;
        parser_.feed({block.data(), static_cast<std::size_t>(got)});
    }
    fd_.close();
    return {};
}

std::optional<uint64_t> Downstream::begin(const std::string& sha256, uint64_t size)
{
    send(FrameKind::json, to_wire({{"do", "put"}, {"sha256", sha256}, {"size", size}}));
    const auto answer = reply();
    if (!answer || text_field(*answer, "state") != "send")
        return {};
    const int64_t offset = integer_field(*answer, "offset", -1);
    return offset >= 0 && static_cast<uint64_t>(offset) <= size ? std::optional(static_cast<uint64_t>(offset))
                                                                : std::nullopt;
}

void Downstream::from(uint64_t offset)
{
    send(FrameKind::json, to_wire({{"do", "put-from"}, {"offset", offset}}));
}

void Downstream::piece(std::string_view compressed)
{
    send(FrameKind::data, compressed);
}

void Downstream::end()
{
    send(FrameKind::json, to_wire({{"do", "put-end"}}));
}

void Downstream::finish()
{
    (void)reply();
}

Expected<ServerProcess> start_relay(
    const std::string& address, const std::string& token, const std::function<void(int fd)>& serve)
{
    return ServerProcess::start(address, {"the chain", kForFiles, token, kMostSenders, kAcceptSeconds, [&](int peer) {
                                              tune(peer);
                                              serve(peer);
                                          }});
}

} // namespace fourfold
