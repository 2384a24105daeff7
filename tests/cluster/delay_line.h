// SPDX-License-Identifier: GPL-3.0-or-later
// A line between two network namespaces with a given delay and rate, in user space: kernels without netem have no delay
// of their own. Two TAP devices (offloads on) whose frames wait in a queue; a sender that is ahead of the rate is not
// read, so nothing is lost.
#pragma once

#include <sys/types.h>

#include <string>

namespace fourfold::test {

struct LineEnd {
    std::string netns; // its name; empty = the namespace of this process
    std::string address; // with prefix length, "10.231.78.1/24"
};

class DelayLine {
public:
    // `delay_ms` each way; `megabits` per second each way.
    DelayLine(const LineEnd& a, const LineEnd& b, double delay_ms, double megabits);
    DelayLine(const DelayLine&) = delete;
    DelayLine& operator=(const DelayLine&) = delete;
    ~DelayLine();
    [[nodiscard]] bool good() const { return pid_ > 0; }

private:
    pid_t pid_ = 0;
};

} // namespace fourfold::test
