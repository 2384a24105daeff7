// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster of network namespaces on this computer: each node has its own address, cables can be pulled. This process
// moves into the client's namespace; every name carries the process number, so that test runs do not collide.
#pragma once

#include <cstdint>
#include <string>

namespace fourfold::test {

// Empty when namespaces can be made here, else why not (for GTEST_SKIP).
std::string why_no_namespaces();

class Namespaces {
public:
    explicit Namespaces(int nodes);
    Namespaces(const Namespaces&) = delete;
    Namespaces& operator=(const Namespaces&) = delete;
    ~Namespaces();

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] std::string node(int index) const; // name of its namespace, from 1
    [[nodiscard]] std::string address(int index) const;
    void cut(int index);
    void heal(int index);
    // Limits a node's line to `megabits` per second in each direction (token bucket); 0 = no limit. Node 0 is the
    // client.
    bool shape(int index, double megabits);
    // Another address for the client, as after a change of network: 10.231.77.`last` instead of what it had.
    bool move_client(int last);
    // Size of packets on a node's own side of its line, and on the switch's side. False where it cannot be set.
    bool set_mtu(int index, int on_node, int on_switch);
    // Bytes that went to a node so far, headers included; of node 0 those that the client sent.
    [[nodiscard]] uint64_t bytes_to(int index) const;

private:
    std::string prefix_;
    int nodes_ = 0, home_ = -1;
    bool good_ = true;
};

} // namespace fourfold::test
