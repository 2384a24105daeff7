// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/net/gate.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

namespace fourfold {

namespace {

constexpr int kAtOnce = 64; // connections taken in, and events looked at, before the others have their turn
constexpr double kPause = 0.1; // when the kernel has no descriptor left
constexpr std::size_t kHello = Proof::kWord.size() + Proof::kBytes;

Proof::Block block_at(const std::string& said, std::size_t at)
{
    Proof::Block block{};
    std::copy_n(said.begin() + static_cast<std::ptrdiff_t>(at), block.size(), block.begin());
    return block;
}

} // namespace

Gate::Gate(FileDescriptor listener, std::string token, std::string_view purpose)
    : listener_(std::move(listener))
    , poll_(epoll_create1(EPOLL_CLOEXEC))
    , token_(std::move(token))
    , purpose_(purpose)
{
    set_blocking(listener_.get(), false);
    listen(true);
}

void Gate::listen(bool on)
{
    if (on == listening_)
        return;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    listening_ = epoll_ctl(poll_.get(), on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.get(), &event) == 0 ? on : !on;
}

int Gate::patience_ms() const
{
    Deadline first
        = strangers_.empty() ? Deadline::max() : strangers_.front().came + std::chrono::seconds(int(kPatience));
    if (!listening_)
        first = std::min(first, closed_until_);
    return first == Deadline::max() ? -1 : milliseconds_until(first);
}

void Gate::send_away(Place place)
{
    // A closed descriptor leaves the poll by itself only when no process that was forked still holds it.
    if (place->fd.valid())
        epoll_ctl(poll_.get(), EPOLL_CTL_DEL, place->fd.get(), nullptr);
    strangers_.erase(place);
}

void Gate::send_away_the_late()
{
    const Deadline late = seconds_from_now(-kPatience);
    while (!strangers_.empty() && strangers_.front().came <= late)
        send_away(strangers_.begin());
}

void Gate::take_in()
{
    for (int i = 0; i < kAtOnce; ++i) {
        if (strangers_.size() >= kMostStrangers) {
            const Deadline may_go = strangers_.front().came + std::chrono::seconds(int(kGrace));
            if (milliseconds_until(may_go) > 0) {
                closed_until_ = may_go;
                listen(false); // the kernel keeps them in its queue
                return;
            }
            send_away(strangers_.begin());
        }
        FileDescriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!peer.valid() && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (!peer.valid() && errno != EAGAIN) { // no descriptor or memory is left
            if (!strangers_.empty())
                send_away(strangers_.begin());
            closed_until_ = seconds_from_now(kPause);
            listen(false);
        }
        if (!peer.valid())
            return;
        strangers_.push_back({std::move(peer), std::chrono::steady_clock::now(), Proof(token_, purpose_), {}, {}});
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &strangers_.back();
        if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, strangers_.back().fd.get(), &event) != 0)
            strangers_.pop_back();
    }
}

Gate::Heard Gate::hear(Stranger& stranger) const
{
    for (;;) {
        const std::size_t wanted = kHello + (stranger.said.size() < kHello ? 0 : Proof::kBytes);
        std::array<char, kHello + Proof::kBytes> block{};
        const ssize_t got = recv(stranger.fd.get(), block.data(), wanted - stranger.said.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return Heard::waits;
        if (got <= 0)
            return Heard::gone;
        stranger.said.append(block.data(), static_cast<std::size_t>(got));
        const std::size_t known = std::min(stranger.said.size(), Proof::kWord.size());
        if (stranger.said.compare(0, known, Proof::kWord, 0, known) != 0)
            return Heard::gone;
        if (stranger.said.size() < wanted)
            continue;
        Proof::Block answer = stranger.proof.challenge();
        const bool proved = wanted > kHello;
        if (!proved) {
            stranger.challenge = block_at(stranger.said, Proof::kWord.size());
        } else {
            if (!same_block(block_at(stranger.said, kHello),
                    stranger.proof.of_client(stranger.challenge, stranger.proof.challenge())))
                return Heard::gone;
            answer = stranger.proof.of_server(stranger.challenge, stranger.proof.challenge());
        }
        // So few bytes always fit into the buffer of a new connection.
        if (send(stranger.fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL) != ssize_t(answer.size()))
            return Heard::gone;
        if (proved)
            return Heard::admitted;
    }
}

std::vector<FileDescriptor> Gate::admit()
{
    std::vector<FileDescriptor> admitted;
    if (!listening_ && milliseconds_until(closed_until_) == 0)
        listen(true);
    std::array<epoll_event, kAtOnce> events{};
    const int count = epoll_wait(poll_.get(), events.data(), int(events.size()), 0);
    bool knocked = false;
    for (int i = 0; i < count; ++i) {
        auto* const stranger = static_cast<Stranger*>(events[std::size_t(i)].data.ptr);
        if (!stranger) {
            knocked = true;
            continue;
        }
        const Heard heard = hear(*stranger);
        if (heard == Heard::waits)
            continue;
        if (heard == Heard::admitted) {
            epoll_ctl(poll_.get(), EPOLL_CTL_DEL, stranger->fd.get(), nullptr);
            admitted.push_back(std::move(stranger->fd));
        }
        send_away(
            std::find_if(strangers_.begin(), strangers_.end(), [&](const Stranger& one) { return &one == stranger; }));
    }
    send_away_the_late();
    if (knocked)
        take_in();
    return admitted;
}

std::optional<FileDescriptor> Gate::next(Deadline deadline)
{
    while (ready_.empty()) {
        pollfd waiting{fd(), POLLIN, 0};
        const int patience = patience_ms(), left = milliseconds_until(deadline);
        (void)poll(&waiting, 1, patience < 0 ? left : std::min(patience, left));
        ready_ = admit();
        if (ready_.empty() && milliseconds_until(deadline) == 0)
            return {};
    }
    FileDescriptor first = std::move(ready_.front());
    ready_.erase(ready_.begin());
    return first;
}

} // namespace fourfold
