// SPDX-License-Identifier: GPL-3.0-or-later
// Declarations that c10d's ProcessGroupGloo.hpp needs from Gloo, whose headers are not part of the LibTorch wheel.
// All objects of these types are made and used inside libtorch_cpu; this program only passes shared pointers to them,
// so that no member but a virtual destructor matters here.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
public:
    // Named by an inline function of c10d that this program never calls.
    void setTimeout(std::chrono::milliseconds) { }
};

namespace transport {
class Device;
class UnboundBuffer {
public:
    virtual ~UnboundBuffer() = default;
};
} // namespace transport

namespace rendezvous {
class Store {
public:
    virtual ~Store() = default;
    virtual void set(const std::string&, const std::vector<char>&) = 0;
    virtual std::vector<char> get(const std::string&) = 0;
    virtual void wait(const std::vector<std::string>&) = 0;
    virtual void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) = 0;
};
} // namespace rendezvous

} // namespace gloo
