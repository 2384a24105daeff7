// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces of files as they travel to nodes: compressed once, however many nodes take them at about the same time,
// and ahead of the sending. Compresses less where the line is quicker than the compressor, more where it is slower. Any
// number of threads.
#pragma once

#include "core/base/expected.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fourfold {

class PieceSource {
public:
    struct Piece {
        std::string compressed;
        uint64_t raw_bytes = 0;
    };
    // `threads` compress; 0 = as many as this computer has cores, at most four.
    explicit PieceSource(int threads = 0);
    PieceSource(const PieceSource&) = delete;
    PieceSource& operator=(const PieceSource&) = delete;
    ~PieceSource();

    // What begins at `offset` of a file of `size` bytes: up to kChunkBytes of it. Those after it are made meanwhile.
    // Fails with io when the file cannot be read or has become shorter.
    Expected<std::shared_ptr<const Piece>> get(const std::filesystem::path& file, uint64_t offset, uint64_t size);

    [[nodiscard]] int level() const; // of zstd, now

private:
    using Place = std::pair<std::string, uint64_t>; // file and offset
    struct Entry {
        std::shared_ptr<const Piece> piece; // none while it is made
        std::optional<Problem> problem;
        uint64_t size = 0; // of the file
        uint64_t used = 0; // when it was last asked for
    };
    void want(const Place& place, uint64_t size);
    void work(const std::stop_token& stop);
    void adapt(bool waited);
    void forget();

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<Place, std::shared_ptr<Entry>> entries_;
    std::deque<Place> open_;
    uint64_t clock_ = 0, bytes_ = 0;
    int level_, waited_ = 0, asked_ = 0;
    int dense_left_ = 0; // pieces to pass on without a try to compress them
    std::vector<std::jthread> threads_; // last: they use all of the above
};

} // namespace fourfold
