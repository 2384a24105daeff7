// SPDX-License-Identifier: GPL-3.0-or-later
// Faults thrown at runs, one of each kind, then at random (FOURFOLD_SOAK says how many, FOURFOLD_SOAK_SEED another
// sequence, FOURFOLD_SOAK_KIND words of the only kinds). After every one: the stored events are the node's, byte for
// byte; the end is the expected one; no process is left; the history is whole. The table of what happened is printed,
// and written to the file that FOURFOLD_SOAK_REPORT names.
#pragma once

#include "tests/runner/support.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::test {

struct Fault {
    const char* name;
    std::map<std::string, std::string> environment;
    RunState expected;
    // What is done once the run has made ten steps; nothing for faults of the ranks themselves.
    std::function<void()> strike;
    double link_s = 5; // as in the target
    std::function<void()> mend = {}; // what is done when the run is over
};

class FaultSoak : public testing::Test {
protected:
    static constexpr int kRanks = 4;
    virtual RunRequest asked(const std::map<std::string, std::string>& environment) = 0;
    // Of the run, on the first node.
    [[nodiscard]] virtual std::filesystem::path node_folder() const = 0;
    // Names of event files in the run folder of the client, in that of the node, and in the history.
    struct Streams {
        const char *stored, *node, *stream;
    };
    [[nodiscard]] virtual std::vector<Streams> streams() const = 0;

    // Throws each of `all` once, then at random until `count`. `before`: runs that the history holds already.
    void throw_all(const char* title, std::vector<Fault> all, int count, std::size_t before);
    // Every rank has started, and the first has made that many steps.
    [[nodiscard]] bool trains(int steps) const;
    // The supervisor of the node whose part of the run folder this is: "" or "node1"; 0 when there is none.
    [[nodiscard]] pid_t supervisor(const std::string& part) const;

    Home home;
    std::optional<ClientProcess> client;
    std::string id;

private:
    // One run with one fault; says how it ended and checks what must always hold.
    std::string suffer(const Fault& fault);
};

} // namespace fourfold::test
