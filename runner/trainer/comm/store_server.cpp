// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/store_server.h"

#include "runner/net/gate.h"
#include "runner/trainer/comm/store_protocol.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <thread>
#include <unordered_map>

namespace fourfold::trainer {

namespace {

constexpr uint64_t kDoor = 0, kEnd = 1, kFirst = 2; // what an event is about; from kFirst on connections
constexpr std::size_t kBlock = 64u << 10;

// Each rank keeps up to four connections; a login often allows 1024 descriptors where the kernel would give more.
void allow_many_descriptors()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int64_t number_in(std::string_view text)
{
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}
} // namespace

struct StoreServer::State {
    // A request that waits for keys.
    struct Wait {
        std::vector<std::string> keys;
        std::size_t there = 0; // so many of the first keys have been seen
        bool values = false;
        Deadline deadline;
    };

    struct Connection {
        FileDescriptor fd;
        std::string in, out;
        std::size_t sent = 0; // of `out`
        std::optional<Wait> wait;
        bool writes = false; // told when there is room for `out`
    };

    using Connections = std::unordered_map<uint64_t, Connection>;

    State(FileDescriptor listener, const std::string& token)
        : gate(std::move(listener), token, kForRendezvous)
        , poll(epoll_create1(EPOLL_CLOEXEC))
        , end(eventfd(0, EFD_CLOEXEC))
    {
        watch(gate.fd(), kDoor, EPOLLIN);
        watch(end.get(), kEnd, EPOLLIN);
    }

    void watch(int fd, uint64_t about, uint32_t events, int how = EPOLL_CTL_ADD) const
    {
        epoll_event event{};
        event.events = events;
        event.data.u64 = about;
        epoll_ctl(poll.get(), how, fd, &event);
    }

    void serve()
    {
        std::array<epoll_event, 256> events{};
        for (;;) {
            const int count = epoll_wait(poll.get(), events.data(), int(events.size()), wait_ms());
            for (FileDescriptor& peer : gate.admit()) {
                const uint64_t id = next++;
                set_no_delay(peer.get());
                const int on = 1;
                setsockopt(peer.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
                watch(peer.get(), id, EPOLLIN);
                connections[id].fd = std::move(peer);
            }
            for (int i = 0; i < count; ++i) {
                const uint64_t about = events[std::size_t(i)].data.u64;
                if (about == kEnd)
                    return;
                if (about >= kFirst && !attend(about))
                    drop(about);
            }
            answer_the_late();
        }
    }

    [[nodiscard]] int wait_ms() const
    {
        const int door = gate.patience_ms();
        const int late = waits.empty() ? -1 : milliseconds_until(waits.begin()->first);
        return door < 0 ? late : late < 0 ? door : std::min(door, late);
    }

    void drop(uint64_t id)
    {
        const auto at = connections.find(id);
        if (at == connections.end())
            return;
        forget_wait(id, at->second);
        connections.erase(at);
    }

    // False when the connection is over.
    bool attend(uint64_t id)
    {
        const auto at = connections.find(id);
        if (at == connections.end())
            return true;
        Connection& own = at->second;
        std::array<char, kBlock> block; // not filled first: it is read often
        for (;;) {
            const ssize_t got = recv(own.fd.get(), block.data(), block.size(), 0);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0 && errno == EAGAIN)
                break;
            if (got <= 0)
                return false;
            own.in.append(block.data(), static_cast<std::size_t>(got));
            if (own.in.size() > kMostMessage + kBlock)
                return false;
        }
        while (!own.wait && own.in.size() >= kLengthBytes) {
            uint32_t size = 0;
            std::memcpy(&size, own.in.data(), kLengthBytes);
            if (size > kMostMessage)
                return false;
            if (own.in.size() < kLengthBytes + size)
                break;
            const std::string message = own.in.substr(kLengthBytes, size);
            own.in.erase(0, kLengthBytes + size);
            if (!handle(id, own, message))
                return false;
        }
        // A request behind one that still waits is against the rules.
        return own.wait && !own.in.empty() ? false : flush(id, own);
    }

    bool flush(uint64_t id, Connection& own) const
    {
        while (own.sent < own.out.size()) {
            const ssize_t sent = send(own.fd.get(), own.out.data() + own.sent, own.out.size() - own.sent, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR)
                continue;
            if (sent < 0 && errno == EAGAIN)
                break;
            if (sent <= 0)
                return false;
            own.sent += static_cast<std::size_t>(sent);
        }
        if (own.sent == own.out.size()) {
            own.out.clear();
            own.sent = 0;
        }
        if (own.writes != !own.out.empty()) {
            own.writes = !own.out.empty();
            watch(own.fd.get(), id, own.writes ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
        }
        return true;
    }

    // False when the request is none.
    bool handle(uint64_t id, Connection& own, std::string_view message)
    {
        MessageReader in(message);
        const auto request = static_cast<StoreRequest>(in.number());
        if (request == StoreRequest::fetch)
            return fetch(id, own, in);
        const std::string key(request == StoreRequest::count ? std::string_view() : in.text());
        MessageWriter out;
        switch (request) {
        case StoreRequest::set:
            values[key] = in.text();
            break;
        case StoreRequest::append:
            values[key] += in.text();
            break;
        case StoreRequest::add: {
            std::string& value = values[key];
            value = std::to_string(number_in(value) + in.number());
            out.number(number_in(value));
            break;
        }
        case StoreRequest::compare_set: {
            const std::string_view expected = in.text(), wanted = in.text();
            const auto at = values.find(key);
            if (at == values.end() ? expected.empty() : at->second == expected)
                values[key] = wanted;
            out.text(values.contains(key) ? std::string_view(values[key]) : expected);
            break;
        }
        case StoreRequest::erase:
            out.number(int64_t(values.erase(key)));
            break;
        case StoreRequest::count:
            out.number(int64_t(values.size()));
            break;
        default:
            return false;
        }
        if (!in.at_end())
            return false;
        own.out += out.finish();
        if (values.contains(key))
            wake(key);
        return true;
    }

    bool fetch(uint64_t id, Connection& own, MessageReader& in)
    {
        Wait wait;
        wait.deadline = seconds_from_now(double(in.number()) / 1000);
        wait.values = in.number() != 0;
        for (int64_t left = in.number(); left > 0 && in.good(); --left)
            wait.keys.emplace_back(in.text());
        if (!in.at_end())
            return false;
        own.wait = std::move(wait);
        waits.emplace(own.wait->deadline, id);
        go_on(id, own);
        return true;
    }

    // Answers when every key is there, or the time is up; else the request waits for the first key that is not.
    void go_on(uint64_t id, Connection& own)
    {
        Wait& wait = *own.wait;
        while (wait.there < wait.keys.size() && values.contains(wait.keys[wait.there]))
            ++wait.there;
        if (wait.there < wait.keys.size() && milliseconds_until(wait.deadline) > 0) {
            waiters[wait.keys[wait.there]].insert(id);
            return;
        }
        std::vector<int64_t> missing;
        for (std::size_t i = 0; i < wait.keys.size(); ++i) {
            if (!values.contains(wait.keys[i]))
                missing.push_back(int64_t(i)); // also what was erased meanwhile
        }
        MessageWriter out;
        out.number(int64_t(missing.size()));
        for (const int64_t position : missing)
            out.number(position);
        for (std::size_t i = 0; missing.empty() && wait.values && i < wait.keys.size(); ++i)
            out.text(values[wait.keys[i]]);
        forget_wait(id, own);
        own.out += out.finish();
    }

    void forget_wait(uint64_t id, Connection& own)
    {
        if (!own.wait)
            return;
        waits.erase({own.wait->deadline, id});
        for (const std::string& key : own.wait->keys) {
            if (const auto at = waiters.find(key);
                at != waiters.end() && at->second.erase(id) > 0 && at->second.empty())
                waiters.erase(at);
        }
        own.wait.reset();
    }

    void wake(const std::string& key)
    {
        const auto at = waiters.find(key);
        if (at == waiters.end())
            return;
        const std::set<uint64_t> woken = std::move(at->second);
        waiters.erase(at);
        for (const uint64_t id : woken)
            go_on_and_flush(id);
    }

    void go_on_and_flush(uint64_t id)
    {
        Connection& own = connections.at(id);
        go_on(id, own);
        (void)flush(id, own); // a broken line comes as an event as well
    }

    void answer_the_late()
    {
        while (!waits.empty() && milliseconds_until(waits.begin()->first) == 0)
            go_on_and_flush(waits.begin()->second);
    }

    Gate gate;
    FileDescriptor poll, end;
    uint64_t next = kFirst;
    Connections connections;
    std::unordered_map<std::string, std::string> values;
    std::unordered_map<std::string, std::set<uint64_t>> waiters; // by the first key that is missing
    std::set<std::pair<Deadline, uint64_t>> waits;
    std::thread thread;
};

StoreServer::StoreServer(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}

Expected<std::unique_ptr<StoreServer>> StoreServer::start(FileDescriptor listener, const std::string& token)
{
    allow_many_descriptors();
    auto state = std::make_unique<State>(std::move(listener), token);
    if (!state->poll.valid() || !state->end.valid() || state->gate.fd() < 0)
        return Problem{ProblemCode::io, std::string("no descriptor is left: ") + std::strerror(errno), {}, {}};
    state->thread = std::thread([own = state.get()] { own->serve(); });
    return std::unique_ptr<StoreServer>(new StoreServer(std::move(state)));
}

StoreServer::~StoreServer()
{
    const uint64_t one = 1;
    (void)!write(state_->end.get(), &one, sizeof one);
    state_->thread.join();
}

} // namespace fourfold::trainer
