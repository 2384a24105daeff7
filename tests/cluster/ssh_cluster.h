// SPDX-License-Identifier: GPL-3.0-or-later
// Real sshd on nodes that are network namespaces.
#pragma once

#include "tests/cluster/netns.h"
#include "tests/runner/sshd.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::test {

// Empty when such nodes can be had here, else why not (for GTEST_SKIP).
std::string why_no_ssh_cluster();

// A test on such nodes; skips where they cannot be had. Its observer trusts their keys.
class SshCluster : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    // `count` nodes with an sshd each; `adapt` changes what node `index` (from 1) is.
    void make(int count, const std::function<void(int, SshdPlace&)>& adapt = {});
    [[nodiscard]] Target target() const; // all nodes
    [[nodiscard]] RunRequest asked(int ranks, const std::map<std::string, std::string>& environment) const;

    // Whether the observer heard "silent", "reconnecting" ... of a node.
    [[nodiscard]] bool had_link(const std::string& state, int node) const;
    // Events `stored` of the run here are those of file `node` in the run's folder there, byte for byte.
    void expect_same(const RunResult& result, const std::string& stored, const std::string& node) const;
    // The run ended well with steps 1 to `count` once each, in order, and left nobody.
    void expect_all_steps(const RunResult& result, int count) const;

    Home home;
    std::unique_ptr<Namespaces> net;
    std::vector<std::unique_ptr<Sshd>> nodes;
    Recording observer;
};

} // namespace fourfold::test
