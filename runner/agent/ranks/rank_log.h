// SPDX-License-Identifier: GPL-3.0-or-later
// A rank's standard output and error on their way into rank<r>.log, which cannot fill the disk: the beginning is kept,
// then the newest part, what lies between is counted.
#pragma once

#include "runner/agent/system/file_descriptor.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace fourfold {

struct LogLimits {
    uint64_t head = 16u << 20; // bytes kept from the beginning
    uint64_t tail = 8u << 20; // of the newest bytes at least so many, at most twice as many
};

class RankLog {
public:
    // `file`; the newest part goes to file.tail0 and file.tail1 in turn until close().
    static Expected<RankLog> open(const std::filesystem::path& file, const LogLimits& limits = {});

    // For the rank; closed here by started().
    [[nodiscard]] int write_end() const { return out_.get(); }
    void started() { out_.close(); }
    // For poll(2); -1 when nobody writes any more.
    [[nodiscard]] int read_end() const { return in_.get(); }
    // Takes what is there, at most about a megabyte. True when something came.
    bool poll();
    // Takes the rest and puts beginning and end together. Whoever still holds the write end is not waited for.
    void close();
    // The same for the log of a run whose agent is gone. `last`: which of the two ends was written last; without it
    // their times decide.
    static void put_together(const std::filesystem::path& file, std::optional<int> last = {});

    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    // Bytes beyond `head` have come.
    [[nodiscard]] bool overflowed() const { return bytes_ > limits_.head; }

private:
    void take(std::string_view bytes);

    std::filesystem::path file_;
    LogLimits limits_;
    FileDescriptor in_, out_, log_, tail_;
    uint64_t bytes_ = 0, tail_bytes_ = 0;
    int tail_index_ = 1;
};

} // namespace fourfold
