// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl-C and SIGTERM as a stop token.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace fourfold::cli {

// While it lives, the first SIGINT or SIGTERM requests a stop and prints `first` on standard error, the second prints
// how to leave, the third ends the program as it would have without this object. One at a time in a program.
class StopSignals {
public:
    explicit StopSignals(std::string first);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
    // Readable from the first signal on, for who waits for input meanwhile; -1 while there is no such object.
    static int descriptor();

private:
    void wait(const std::string& first);

    std::stop_source source_;
    std::thread thread_;
};

} // namespace fourfold::cli
