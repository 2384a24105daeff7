// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/rendezvous.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace fourfold::trainer {

namespace {
using Clock = std::chrono::steady_clock;

std::chrono::milliseconds millis(double seconds)
{
    return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}
// LibTorch's messages carry a backtrace after the first line.
std::string first_line(const std::exception& error)
{
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
}
std::string present(int rank)
{
    return "present/" + std::to_string(rank);
}
std::string done(int rank)
{
    return "done/" + std::to_string(rank);
}
} // namespace

struct Rendezvous::State {
    Job job;
    c10::intrusive_ptr<c10d::Store> store; // null: job of one rank
    std::map<std::string, std::string> alone; // what a job of one rank published

    [[nodiscard]] std::string where() const { return job.master_address + ":" + std::to_string(job.master_port); }
};

Rendezvous::Rendezvous(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
Rendezvous::~Rendezvous() = default;

c10d::Store* Rendezvous::store() const
{
    return state_->store.get();
}

Expected<std::shared_ptr<Rendezvous>> Rendezvous::join(const Job& job)
{
    auto state = std::make_unique<State>();
    state->job = job;
    if (job.world_size == 1)
        return std::shared_ptr<Rendezvous>(new Rendezvous(std::move(state)));
    try {
        c10d::TCPStoreOptions options;
        options.port = static_cast<std::uint16_t>(job.master_port);
        options.isServer = job.rank == 0;
        options.numWorkers = static_cast<std::size_t>(job.world_size);
        options.waitWorkers = false;
        options.timeout = millis(job.timeout_s);
        state->store = c10::make_intrusive<c10d::TCPStore>(job.master_address, options);
        state->store->set(present(job.rank), std::vector<uint8_t>{1});
    } catch (const std::exception& error) {
        return Problem{ProblemCode::network,
            (job.rank == 0 ? "rank 0 cannot serve the meeting point: " : "cannot reach rank 0: ") + first_line(error),
            "check MASTER_ADDR, MASTER_PORT and the firewall", state->where()};
    }
    return std::shared_ptr<Rendezvous>(new Rendezvous(std::move(state)));
}

Expected<void> Rendezvous::meet()
{
    if (!state_->store)
        return {};
    const Job& job = state_->job;
    const auto deadline = Clock::now() + millis(job.timeout_s);
    // Polling instead of one blocking wait: at the end it is known who is missing.
    std::vector<int> missing;
    for (int rank = 0; rank < job.world_size; ++rank)
        missing.push_back(rank);
    auto pause = std::chrono::milliseconds(2);
    try {
        while (true) {
            std::erase_if(missing, [&](int rank) { return state_->store->check({present(rank)}); });
            if (missing.empty())
                break;
            if (Clock::now() > deadline) {
                std::string ranks;
                for (const int rank : missing)
                    ranks += " " + std::to_string(rank);
                return Problem{ProblemCode::network,
                    std::to_string(missing.size()) + " of " + std::to_string(job.world_size)
                        + " ranks did not come within " + std::to_string(static_cast<int>(job.timeout_s)) + " s: rank"
                        + ranks,
                    "see their logs", state_->where()};
            }
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 2, std::chrono::milliseconds(100));
        }
    } catch (const std::exception& error) {
        return Problem{ProblemCode::network, "lost rank 0 while waiting for the others: " + first_line(error), "",
            state_->where()};
    }
    return {};
}

Expected<void> Rendezvous::publish(const std::string& key, const std::string& value)
{
    if (!state_->store) {
        state_->alone[key] = value;
        return {};
    }
    try {
        state_->store->set(key, std::vector<uint8_t>(value.begin(), value.end()));
        return {};
    } catch (const std::exception& error) {
        return Problem{ProblemCode::network, "lost rank 0: " + first_line(error), "", ""};
    }
}

Expected<std::string> Rendezvous::read(const std::string& key)
{
    if (!state_->store)
        return state_->alone[key];
    try {
        const auto value = state_->store->get(key);
        return std::string(value.begin(), value.end());
    } catch (const std::exception& error) {
        return Problem{ProblemCode::network, "no \"" + key + "\" from its rank: " + first_line(error), "", ""};
    }
}

void Rendezvous::leave()
{
    if (!state_->store)
        return;
    constexpr auto kGrace = std::chrono::seconds(10);
    try {
        state_->store->set(done(state_->job.rank), std::vector<uint8_t>{1});
        if (state_->job.rank != 0)
            return;
        std::vector<std::string> keys;
        for (int rank = 0; rank < state_->job.world_size; ++rank)
            keys.push_back(done(rank));
        state_->store->wait(keys, kGrace);
    } catch (const std::exception&) {
        // The training is over: a peer that left without a word harms nobody any more.
    }
}

struct MeetingPoint::State {
    c10::intrusive_ptr<c10d::Store> store;
};

MeetingPoint::MeetingPoint(const Job& job, std::chrono::milliseconds patience)
    : state_(std::make_unique<State>())
{
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(job.master_port);
    options.waitWorkers = false;
    options.timeout = patience;
    state_->store = c10::make_intrusive<c10d::TCPStore>(job.master_address, options);
}
MeetingPoint::~MeetingPoint() = default;

void MeetingPoint::set(const std::string& key, const std::string& value)
{
    state_->store->set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

bool MeetingPoint::has(const std::string& key)
{
    return state_->store->check({key});
}

std::string MeetingPoint::get(const std::string& key)
{
    const std::vector<uint8_t> value = state_->store->get(key);
    return {value.begin(), value.end()};
}

std::int64_t MeetingPoint::add(const std::string& key, std::int64_t count)
{
    return state_->store->add(key, count);
}

} // namespace fourfold::trainer
