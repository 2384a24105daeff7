// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/store_client.h"

#include "runner/net/proof.h"
#include "runner/trainer/comm/store_protocol.h"

#include <cstring>
#include <thread>

namespace fourfold::trainer {

using namespace std::chrono_literals;

namespace {

constexpr auto kPause = 50ms; // between two attempts to connect
constexpr auto kOwnPatience = 3s; // for what stands in the way on this node, as a network that is only just coming up
// Closed on our proof: the token is wrong, or the store had too many strangers at its door just then.
constexpr int kMostRefusals = 3;

Problem lost(const std::string& what)
{
    return {ProblemCode::network, what, {}, {}};
}

MessageWriter begin(StoreRequest request)
{
    MessageWriter out;
    out.number(static_cast<int64_t>(request));
    return out;
}

} // namespace

StoreClient::StoreClient(StorePlace place, std::chrono::milliseconds patience, FileDescriptor fd)
    : place_(std::move(place))
    , patience_(patience)
    , fd_(std::move(fd))
{
}

Expected<std::shared_ptr<StoreClient>> StoreClient::connect(const StorePlace& place, std::chrono::milliseconds patience)
{
    const Deadline begin = std::chrono::steady_clock::now(), deadline = begin + patience;
    int refusals = 0;
    for (;; std::this_thread::sleep_for(kPause)) {
        int error = 0;
        FileDescriptor fd = try_connect(place.address, place.port, deadline, error);
        const auto proved = error == 0
            ? prove(fd.get(), place.token, kForRendezvous, deadline)
            : Expected<void>(Problem{ProblemCode::network, why_not_connected(error), cure_of_connection(error), {}});
        if (proved) {
            const int on = 1;
            setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
            set_no_delay(fd.get());
            return std::shared_ptr<StoreClient>(new StoreClient(place, patience, std::move(fd)));
        }
        refusals += proved.error().code == ProblemCode::refused ? 1 : 0;
        const bool hopeless = lies_with_this_node(error) && std::chrono::steady_clock::now() > begin + kOwnPatience;
        if (proved.error().code == ProblemCode::conflict || refusals == kMostRefusals || hopeless
            || milliseconds_until(deadline) == 0)
            return proved.error();
    }
}

Expected<std::string> StoreClient::ask(std::string message, std::chrono::milliseconds limit)
{
    if (message.size() > kMostMessage)
        return Problem{ProblemCode::bad_input, "a value is too large for the store", {}, {}};
    const std::scoped_lock lock(mutex_);
    const Deadline deadline = std::chrono::steady_clock::now() + patience_ + limit;
    uint32_t size = 0;
    std::string answer;
    bool good = fd_.valid() && send_fully(fd_.get(), message, deadline)
        && read_fully(fd_.get(), reinterpret_cast<char*>(&size), kLengthBytes, deadline) && size <= kMostMessage;
    answer.resize(good ? size : 0);
    good = good && read_fully(fd_.get(), answer.data(), answer.size(), deadline);
    if (good)
        return answer;
    fd_.close();
    return lost(milliseconds_until(deadline) == 0 ? "it does not answer" : "the connection broke");
}

Expected<void> StoreClient::set(const std::string& key, std::string_view value)
{
    MessageWriter out = begin(StoreRequest::set);
    out.text(key);
    out.text(value);
    FOURFOLD_CHECK(ask(out.finish()));
    return {};
}

Expected<void> StoreClient::append(const std::string& key, std::string_view value)
{
    MessageWriter out = begin(StoreRequest::append);
    out.text(key);
    out.text(value);
    FOURFOLD_CHECK(ask(out.finish()));
    return {};
}

Expected<std::int64_t> StoreClient::add(const std::string& key, std::int64_t count)
{
    MessageWriter out = begin(StoreRequest::add);
    out.text(key);
    out.number(count);
    FOURFOLD_TRY(const std::string answer, ask(out.finish()));
    return MessageReader(answer).number();
}

Expected<std::string> StoreClient::compare_set(
    const std::string& key, std::string_view expected, std::string_view wanted)
{
    MessageWriter out = begin(StoreRequest::compare_set);
    out.text(key);
    out.text(expected);
    out.text(wanted);
    FOURFOLD_TRY(const std::string answer, ask(out.finish()));
    return std::string(MessageReader(answer).text());
}

Expected<bool> StoreClient::erase(const std::string& key)
{
    MessageWriter out = begin(StoreRequest::erase);
    out.text(key);
    FOURFOLD_TRY(const std::string answer, ask(out.finish()));
    return MessageReader(answer).number() != 0;
}

Expected<std::int64_t> StoreClient::count()
{
    FOURFOLD_TRY(const std::string answer, ask(begin(StoreRequest::count).finish()));
    return MessageReader(answer).number();
}

Expected<std::string> StoreClient::fetch(
    const std::vector<std::string>& keys, std::chrono::milliseconds limit, bool values)
{
    MessageWriter out = begin(StoreRequest::fetch);
    out.number(limit.count());
    out.number(values ? 1 : 0);
    out.number(static_cast<int64_t>(keys.size()));
    for (const std::string& key : keys)
        out.text(key);
    return ask(out.finish(), limit);
}

Expected<std::vector<std::size_t>> StoreClient::missing(
    const std::vector<std::string>& keys, std::chrono::milliseconds limit)
{
    FOURFOLD_TRY(const std::string answer, fetch(keys, limit, false));
    MessageReader in(answer);
    std::vector<std::size_t> positions;
    for (int64_t left = in.number(); left > 0 && in.good(); --left) {
        const int64_t position = in.number();
        if (position >= 0 && static_cast<std::size_t>(position) < keys.size())
            positions.push_back(static_cast<std::size_t>(position));
    }
    return positions;
}

Expected<std::vector<std::string>> StoreClient::get(
    const std::vector<std::string>& keys, std::chrono::milliseconds limit)
{
    FOURFOLD_TRY(const std::string answer, fetch(keys, limit, true));
    MessageReader in(answer);
    std::string absent;
    for (int64_t left = in.number(); left > 0 && in.good(); --left) {
        const int64_t position = in.number();
        if (position >= 0 && static_cast<std::size_t>(position) < keys.size())
            absent += (absent.empty() ? "" : ", ") + keys[static_cast<std::size_t>(position)];
    }
    if (!absent.empty())
        return Problem{ProblemCode::not_found,
            "timed out after " + std::to_string(limit.count()) + " ms of waiting for " + absent, {}, {}};
    std::vector<std::string> values;
    for (std::size_t i = 0; i < keys.size(); ++i)
        values.emplace_back(in.text());
    if (!in.at_end())
        return lost("it answered something else");
    return values;
}

Expected<std::string> StoreClient::get(const std::string& key, std::chrono::milliseconds limit)
{
    FOURFOLD_TRY(std::vector<std::string> values, get(std::vector<std::string>{key}, limit));
    return std::move(values.front());
}

} // namespace fourfold::trainer
