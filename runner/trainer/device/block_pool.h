// SPDX-License-Identifier: GPL-3.0-or-later
// Large blocks of memory that come and go in much the same order in every step. The C library's heap keeps what lies
// between them: a rank had a fifth more resident than its tensors took, or, where each block is given back to the
// system, paid for its pages again and again. Here a block's pages serve the next one, and as soon as more would be
// resident than all blocks together ever took, free ones go back to the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fourfold::trainer {

class BlockPool {
public:
    static constexpr std::size_t kChunk = std::size_t(1) << 21; // what goes back to the system: a huge page

    // Of so much address space, of which nothing is resident yet; null where the system does not give it.
    static std::unique_ptr<BlockPool> reserve(std::size_t bytes);
    ~BlockPool();
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;

    // At the beginning of a page; null where there is no room left.
    void* take(std::size_t bytes);
    // Whether the block is one of the pool's, and was given back.
    bool give_back(void* block);
    // What no block lay in since the last call goes back to the system: call it once a step.
    void release_unused();

    [[nodiscard]] std::size_t taken() const; // bytes of all blocks now
    [[nodiscard]] std::size_t most_taken() const; // so far
    [[nodiscard]] std::size_t touched() const; // at most so much is resident

private:
    BlockPool(char* begin, std::size_t bytes, void* mapping, std::size_t mapped);
    struct Chunk {
        uint32_t blocks = 0; // that lie in it
        uint32_t round = 0; // of release_unused(), when one last came
        bool touched = false;
    };
    using Free = std::map<std::size_t, std::size_t>; // where it begins, bytes

    void add_free(std::size_t begin, std::size_t bytes);
    void remove_free(Free::iterator range);
    bool allow_up_to(std::size_t end);
    void count(std::size_t begin, std::size_t bytes, bool comes);
    void keep_within(std::size_t chunks);
    template <typename Which>
    void release(std::size_t first, std::size_t last, std::size_t least_left, Which&& which);

    mutable std::mutex lock_;
    char* begin_ = nullptr;
    std::size_t bytes_ = 0, allowed_ = 0; // from the beginning on: memory that may be used
    void* mapping_ = nullptr; // with what comes before the first whole chunk
    std::size_t mapped_ = 0;
    Free free_;
    std::set<std::pair<std::size_t, std::size_t>> by_size_; // bytes, where it begins
    std::unordered_map<std::size_t, std::size_t> blocks_; // where it begins, bytes
    std::vector<Chunk> chunks_;
    uint32_t round_ = 0;
    std::size_t taken_ = 0, most_taken_ = 0, touched_ = 0; // touched_: chunks
};

} // namespace fourfold::trainer
