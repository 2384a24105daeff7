// SPDX-License-Identifier: GPL-3.0-or-later
// A second, naive implementation of collectives: messages sent step by step over links, every link sharing its speed
// among the messages on it. It knows nothing of the closed formulas: only who sends how much to whom, and which links
// lie between.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fourfold::test {

// Links by name, bytes/s. A message occupies all links of its path at once, the slowest share decides.
class Network {
public:
    void add(const std::string& link, double bytes_s) { speed_[link] = bytes_s; }
    [[nodiscard]] double speed(const std::string& link) const { return speed_.at(link); }

private:
    std::map<std::string, double> speed_;
};

struct Message {
    std::vector<std::string> path;
    double bytes = 0;
};

// Messages that start together; a step ends when the last one has arrived. With equal shares a link is done when its
// whole load has passed, so the busiest link sets the pace.
inline double step_seconds(const Network& network, const std::vector<Message>& messages)
{
    std::map<std::string, double> load;
    for (const Message& message : messages) {
        for (const std::string& link : message.path)
            load[link] += message.bytes;
    }
    double longest = 0;
    for (const auto& [link, bytes] : load)
        longest = std::max(longest, bytes / network.speed(link));
    return longest;
}

// Path from a to b (members of one group).
using Route = std::function<std::vector<std::string>(int a, int b)>;
// The groups that work at the same time, each a list of global ranks in ring order.
using Groups = std::vector<std::vector<int>>;

// Ring: p - 1 steps, in each every rank passes one p-th of the whole on to its neighbour. `rounds` 2: an all-reduce as
// a reduce-scatter and an all-gather.
inline double ring_seconds(const Network& network, const Route& route, const Groups& groups, double bytes, int rounds)
{
    const int p = int(groups.front().size());
    double seconds = 0;
    for (int step = 0; step < rounds * (p - 1); ++step) {
        std::vector<Message> messages;
        for (const auto& ranks : groups) {
            for (int i = 0; i < p; ++i)
                messages.push_back({route(ranks[std::size_t(i)], ranks[std::size_t((i + 1) % p)]), bytes / p});
        }
        seconds += step_seconds(network, messages);
    }
    return seconds;
}

// Every rank sends a p-th of `bytes` to every other, all at once.
inline double exchange_seconds(const Network& network, const Route& route, const Groups& groups, double bytes)
{
    std::vector<Message> messages;
    for (const auto& ranks : groups) {
        for (const int from : ranks) {
            for (const int to : ranks) {
                if (from != to)
                    messages.push_back({route(from, to), bytes / double(ranks.size())});
            }
        }
    }
    return step_seconds(network, messages);
}

} // namespace fourfold::test
