// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/watch.h"
#include "runner/trainer/comm/rendezvous.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace fourfold::trainer {

namespace {
using Clock = std::chrono::steady_clock;

constexpr char kClaims[] = "failures", kTold[] = "failure";
constexpr auto kPatience = std::chrono::seconds(10); // with the meeting point, on a busy computer

std::chrono::duration<double> seconds(double count)
{
    return std::chrono::duration<double>(count);
}
std::string sign_of(int rank)
{
    return "sign/" + std::to_string(rank);
}
std::string heard_by(int rank)
{
    return "heard/" + std::to_string(rank);
}
} // namespace

struct Watch::State {
    Job job;
    std::function<void(const std::string&)> on_failure;
    std::unique_ptr<MeetingPoint> store;
    std::mutex mutex;
    std::condition_variable wake;
    bool stop = false;
    std::thread thread;

    void loop()
    {
        int64_t count = 0;
        std::unique_lock lock(mutex);
        while (!stop) {
            lock.unlock();
            bool failed = false;
            std::string text;
            try {
                store->set(sign_of(job.rank), std::to_string(++count));
                if (const auto told = hear()) {
                    failed = true;
                    text = *told;
                }
            } catch (const std::exception&) {
                failed = true; // rank 0 is gone
            }
            lock.lock();
            if (failed && !stop) {
                lock.unlock();
                on_failure(text);
                return;
            }
            wake.wait_for(lock, seconds(kBeatSeconds), [this] { return stop; });
        }
    }

    // What the first rank told, if it has.
    std::optional<std::string> hear()
    {
        if (!store->has(kTold))
            return std::nullopt;
        const std::string text = store->get(kTold);
        store->set(heard_by(job.rank), "1");
        return text;
    }

    // Each rank's sign of life; empty where it never gave one.
    std::vector<std::string> signs()
    {
        std::vector<std::string> all;
        for (int rank = 0; rank < job.world_size; ++rank)
            all.push_back(store->has(sign_of(rank)) ? store->get(sign_of(rank)) : "");
        return all;
    }
};

Watch::Watch(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}

std::shared_ptr<Watch> Watch::join(const Job& job)
{
    if (job.world_size == 1)
        return nullptr;
    auto state = std::make_unique<State>();
    state->job = job;
    try {
        state->store = std::make_unique<MeetingPoint>(job, kPatience);
    } catch (const std::exception&) {
        return nullptr; // what needs rank 0 says so itself
    }
    return std::shared_ptr<Watch>(new Watch(std::move(state)));
}

void Watch::start(std::function<void(const std::string&)> on_failure)
{
    state_->on_failure = std::move(on_failure);
    state_->thread = std::thread([own = state_.get()] { own->loop(); });
}

Watch::~Watch()
{
    {
        const std::scoped_lock lock(state_->mutex);
        state_->stop = true;
    }
    state_->wake.notify_all();
    if (state_->thread.joinable())
        state_->thread.join();
}

std::optional<bool> Watch::claim()
{
    try {
        return state_->store->add(kClaims, 1) == 1;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void Watch::tell(const std::string& line)
{
    try {
        state_->store->set(kTold, line);
    } catch (const std::exception&) {
        // Then the others notice that the meeting point is gone.
    }
    outlast_the_others();
}

void Watch::outlast_the_others()
{
    if (state_->job.rank != 0)
        return;
    const auto deadline = Clock::now() + seconds(kHearingSeconds);
    try {
        for (int rank = 1; rank < state_->job.world_size; ++rank)
            while (!state_->store->has(heard_by(rank)) && Clock::now() < deadline)
                std::this_thread::sleep_for(seconds(kBeatSeconds / 10));
    } catch (const std::exception&) {
        // It serves the meeting point itself: nothing to outlast.
    }
}

std::optional<std::string> Watch::told(double limit)
{
    const auto deadline = Clock::now() + seconds(limit);
    try {
        while (Clock::now() < deadline) {
            if (const auto text = state_->hear())
                return text;
            std::this_thread::sleep_for(seconds(kBeatSeconds / 5));
        }
    } catch (const std::exception&) {
        return std::nullopt;
    }
    return "";
}

std::vector<int> Watch::silent()
{
    std::vector<int> ranks;
    try {
        const auto before = state_->signs();
        std::this_thread::sleep_for(seconds(kSilenceSeconds));
        const auto after = state_->signs();
        for (int rank = 0; rank < state_->job.world_size; ++rank)
            if (rank != state_->job.rank && before[std::size_t(rank)] == after[std::size_t(rank)])
                ranks.push_back(rank);
    } catch (const std::exception&) {
        ranks = {0};
    }
    return ranks;
}

} // namespace fourfold::trainer
