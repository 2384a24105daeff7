// SPDX-License-Identifier: GPL-3.0-or-later
// Where the ranks of a job find each other: a key-value store that rank 0 serves, for those who know the job's token.
// What rank 0 does grows with the number of ranks, what another rank does there does not.
#pragma once

#include "core/base/expected.h"
#include "runner/trainer/comm/store_client.h"
#include "runner/trainer/job.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

class Rendezvous {
public:
    // Reaches the store. A job of one rank needs no network.
    static Expected<std::shared_ptr<Rendezvous>> join(const Job& job);
    // Waits until every rank of the job joined. On a time-out the Problem names the ranks that did not come.
    Expected<void> meet();
    // Rank 0 finds out whether all may go on; the others wait for its answer and get the same. Every rank calls it,
    // with the same `about`.
    Expected<void> agree(const std::string& about, const std::function<Expected<void>()>& of_rank_zero);
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    // Makes `value` known to all ranks; read waits for every key.
    Expected<void> publish(const std::string& key, const std::string& value);
    Expected<std::vector<std::string>> read(const std::vector<std::string>& keys);
    // Rank 0 serves the store and so leaves last: waits (shortly) until the others said that they are done.
    void leave();

    // Another connection to the store, for a thread that waits there; null in a job of one rank.
    Expected<std::shared_ptr<StoreClient>> another_line() const;

    // The connection to the store; null in a job of one rank.
    [[nodiscard]] const std::shared_ptr<StoreClient>& line() const;

private:
    struct State;
    explicit Rendezvous(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
