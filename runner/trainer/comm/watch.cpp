// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/watch.h"

#include "runner/trainer/comm/store_client.h"

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
    std::shared_ptr<StoreClient> store;
    std::mutex mutex;
    std::condition_variable wake;
    bool stop = false;
    std::thread thread;
    std::mutex hearing;
    std::optional<std::string> heard;

    void loop()
    {
        int64_t count = 0;
        std::unique_lock lock(mutex);
        while (!stop) {
            lock.unlock();
            const auto beat = store->set(sign_of(job.rank), std::to_string(++count));
            const auto told = beat ? hear() : Expected<std::optional<std::string>>(beat.error());
            lock.lock();
            if ((!told || *told) && !stop) { // without an answer rank 0 is gone
                lock.unlock();
                on_failure(told ? **told : "");
                return;
            }
            wake.wait_for(lock, seconds(kBeatSeconds), [this] { return stop; });
        }
    }

    // What the first rank told, if it has. Kept before that is confirmed: rank 0 may leave at once then, and with it
    // the meeting point, while another thread of this rank asks.
    [[nodiscard]] Expected<std::optional<std::string>> hear()
    {
        const std::scoped_lock one_at_a_time(hearing);
        if (heard)
            return heard;
        FOURFOLD_TRY(heard, look(kTold));
        if (heard)
            (void)store->set(heard_by(job.rank), "1");
        return heard;
    }

    // What is there under a key, if anything is.
    [[nodiscard]] Expected<std::optional<std::string>> look(const std::string& key) const
    {
        auto value = store->get(key, std::chrono::milliseconds(0));
        if (!value && value.error().code == ProblemCode::not_found)
            return std::optional<std::string>();
        FOURFOLD_TRY(std::string text, std::move(value));
        return std::optional(std::move(text));
    }

    // Each rank's sign of life; nothing where it never gave one.
    [[nodiscard]] Expected<std::vector<std::optional<std::string>>> signs() const
    {
        std::vector<std::optional<std::string>> all;
        for (int rank = 0; rank < job.world_size; ++rank) {
            FOURFOLD_TRY(auto sign, look(sign_of(rank)));
            all.push_back(std::move(sign));
        }
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
    auto store = StoreClient::connect({job.master_address, job.master_port, job.token}, kPatience);
    if (!store)
        return nullptr; // what needs rank 0 says so itself
    state->store = *std::move(store);
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
    const auto claims = state_->store->add(kClaims, 1);
    return claims ? std::optional(*claims == 1) : std::nullopt;
}

void Watch::tell(const std::string& line)
{
    // Where this fails the others notice that the meeting point is gone.
    (void)state_->store->set(kTold, line);
    outlast_the_others();
}

void Watch::outlast_the_others()
{
    if (state_->job.rank != 0)
        return;
    const auto deadline = Clock::now() + seconds(kHearingSeconds);
    for (int rank = 1; rank < state_->job.world_size; ++rank) {
        for (auto heard = state_->look(heard_by(rank)); heard && !*heard && Clock::now() < deadline;
             heard = state_->look(heard_by(rank)))
            std::this_thread::sleep_for(seconds(kBeatSeconds / 10));
    }
}

std::optional<std::string> Watch::told(double limit)
{
    const auto deadline = Clock::now() + seconds(limit);
    while (Clock::now() < deadline) {
        const auto line = state_->hear();
        if (!line)
            return std::nullopt;
        if (*line)
            return **line;
        std::this_thread::sleep_for(seconds(kBeatSeconds / 5)); // the signs of life go on meanwhile
    }
    return "";
}

std::vector<int> Watch::silent()
{
    std::vector<int> ranks;
    const auto before = state_->signs();
    if (!before)
        return {0};
    std::this_thread::sleep_for(seconds(kSilenceSeconds));
    const auto after = state_->signs();
    if (!after)
        return {0};
    for (int rank = 0; rank < state_->job.world_size; ++rank)
        if (rank != state_->job.rank && (*before)[std::size_t(rank)] == (*after)[std::size_t(rank)])
            ranks.push_back(rank);
    return ranks;
}

} // namespace fourfold::trainer
