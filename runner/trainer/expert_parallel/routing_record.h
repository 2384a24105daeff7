// SPDX-License-Identifier: GPL-3.0-or-later
// Which experts got how many tokens, exchange after exchange in the order in which a rank makes them: written down
// where tokens have values, repeated by a rehearsal of that rank, whose tokens have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fourfold::trainer {

class RoutingRecord {
public:
    // What the ranks of a group counted, one rank's experts behind the other's.
    using Counts = std::vector<int64_t>;

    RoutingRecord() = default;
    explicit RoutingRecord(std::vector<Counts> exchanges)
        : exchanges_(std::move(exchanges))
    {
    }
    void add(const Counts& counts) { exchanges_.push_back(counts); }
    // The next exchange, of so many numbers; null: the record is of another run.
    [[nodiscard]] const Counts* next(std::size_t numbers)
    {
        if (next_ == exchanges_.size() || exchanges_[next_].size() != numbers)
            return nullptr;
        return &exchanges_[next_++];
    }
    [[nodiscard]] bool at_its_end() const { return next_ == exchanges_.size(); }
    [[nodiscard]] const std::vector<Counts>& exchanges() const { return exchanges_; }

private:
    std::vector<Counts> exchanges_;
    std::size_t next_ = 0;
};

// What is known of a routing before it is computed.
struct KnownRouting {
    double imbalance = 0; // of a rehearsal: what the first rank gets above the mean, as a share of it
    RoutingRecord* record = nullptr; // of a rehearsal: repeated, whatever the imbalance; else written. Null: neither
};

} // namespace fourfold::trainer
