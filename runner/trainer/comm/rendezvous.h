// SPDX-License-Identifier: GPL-3.0-or-later
// Where the ranks of a job find each other: a key-value store that rank 0 serves.
#pragma once

#include "core/base/expected.h"
#include "runner/trainer/job.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace c10d {
class Store;
}

namespace fourfold::trainer {

class Rendezvous {
public:
    // Reaches the store. A job of one rank needs no network.
    static Expected<std::shared_ptr<Rendezvous>> join(const Job& job);
    // Waits until every rank of the job joined. On a time-out the Problem names the ranks that did not come.
    Expected<void> meet();
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    // Makes `value` known to all ranks; read waits for it.
    Expected<void> publish(const std::string& key, const std::string& value);
    Expected<std::string> read(const std::string& key);
    // Rank 0 serves the store and so leaves last: waits (shortly) until the others said that they are done.
    void leave();

    // c10d's store, for its backends; null in a job of one rank.
    [[nodiscard]] c10d::Store* store() const;

private:
    struct State;
    explicit Rendezvous(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// A connection of its own to the store of a job of several ranks, for a thread that must not wait for an operation of
// the job. Its calls throw std::exception when rank 0 is gone.
class MeetingPoint {
public:
    MeetingPoint(const Job& job, std::chrono::milliseconds patience); // of each call
    ~MeetingPoint();
    MeetingPoint(const MeetingPoint&) = delete;
    MeetingPoint& operator=(const MeetingPoint&) = delete;

    void set(const std::string& key, const std::string& value);
    [[nodiscard]] bool has(const std::string& key);
    [[nodiscard]] std::string get(const std::string& key); // waits for it
    std::int64_t add(const std::string& key, std::int64_t count); // returns the sum

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
