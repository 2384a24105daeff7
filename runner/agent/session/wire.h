// SPDX-License-Identifier: GPL-3.0-or-later
// The client's end of a session: frames on two descriptors. A broken output or a malformed input ends it.
#pragma once

#include "core/base/json.h"
#include "runner/agent/system/processes.h"
#include "runner/protocol/frame.h"

#include <functional>
#include <optional>
#include <string_view>

namespace fourfold {

class Wire {
public:
    Wire(int in, int out);
    bool send(const Json& reply);
    bool send_data(std::string_view bytes);
    // Waits up to `timeout_ms` (-1 = as long as a silent client is believed in), or until `also` can be read; nothing
    // when none came; not open() when the peer is gone.
    std::optional<Frame> next_frame(int timeout_ms, int also = -1);
    // Until the peer closes its end; the process's exit status. A request either answers itself, or its Problem is
    // sent.
    int serve(const std::function<Expected<void>(const Json& request)>& answer);

    [[nodiscard]] bool open() const { return !closed_; }
    // Nothing came from the client for longer than that.
    [[nodiscard]] bool silent_for(double seconds) const { return monotonic_seconds() - heard_ > seconds; }
    void close() { closed_ = true; }
    // Hangs up with the client.
    [[nodiscard]] int descriptor() const { return in_; }

private:
    int in_, out_;
    FrameParser parser_;
    bool closed_ = false;
    double heard_; // when the client was last heard (monotonic)
};

} // namespace fourfold
