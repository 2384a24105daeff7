// SPDX-License-Identifier: GPL-3.0-or-later
// What LibTorch's caching allocator for CUDA would reserve for a sequence of allocations and frees: a model of
// c10/cuda/CUDACachingAllocator.cpp as of PyTorch 2, for one stream. Sizes are rounded up to 512 bytes; requests of up
// to 1 MiB come out of segments of 2 MiB, up to 10 MiB out of segments of 20 MiB, larger ones have segments of their
// own in whole 2 MiB. The smallest free block that fits is taken; it is split where 512 bytes (small) or more than 1
// MiB (large) would be left. Freed neighbours are joined. Segments are kept. Where the device is full, segments of
// which nothing is in use are given back before memory runs out. Expandable (expandable_segments:True): a segment is a
// range of addresses as long as the device's memory, one for small requests and one for all others, that gets memory
// page by page (2 MiB, 20 MiB) at its lowest address where a request fits. Every block is split where 512 bytes would
// be left. Before memory runs out, pages of which nothing is in use are given back. A pool has segments of its own: of
// all that one stream computes, or of the graphs that share it (beginAllocateToPool). Not modelled: what is freed while
// another stream still uses it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace fourfold {

struct AllocatorSettings {
    uint64_t capacity = 0; // bytes that segments may take, 0: any number; what goes beyond is allocated all the same
    bool expandable = false;
};

class CachingAllocator {
public:
    explicit CachingAllocator(const AllocatorSettings& settings = {})
        : settings_(settings)
    {
    }

    // Pool 0 is everyone's, and the first to be used. What is allocated from here on comes from this one; it goes back
    // to the one that it came from. Pools of graphs keep their segments.
    int new_pool(bool of_graphs);
    void use_pool(int pool) { pool_ = pool; }
    void give_back_segments(); // that are free as a whole; of expandable ones, such pages

    // Returns the block's address (of an address space of its own, never 0). bytes: more than 0.
    uint64_t allocate(uint64_t bytes);
    // Precondition: `address` was returned by allocate() and is freed once.
    void free(uint64_t address);

    [[nodiscard]] uint64_t bytes_at(uint64_t address) const { return blocks_.at(address).bytes; } // as free()
    [[nodiscard]] uint64_t allocated() const { return allocated_; } // bytes, as rounded
    [[nodiscard]] uint64_t peak_allocated() const { return peak_allocated_; }
    [[nodiscard]] uint64_t reserved() const { return reserved_; } // bytes of all segments
    [[nodiscard]] uint64_t peak_reserved() const { return peak_reserved_; }
    [[nodiscard]] bool ran_out() const { return ran_out_; } // some segment had no place in the capacity
    // Bytes as they were asked for, at the moment when they were most.
    [[nodiscard]] uint64_t peak_requested() const { return peak_requested_; }

private:
    struct Block {
        uint64_t bytes = 0, requested = 0, segment = 0;
        bool small = false, free = false;
        int pool = 0;
        bool mapped = true; // has memory
    };
    using Blocks = std::map<uint64_t, Block>; // by address
    struct Free {
        std::set<std::pair<uint64_t, uint64_t>> mapped; // bytes, address
        std::set<uint64_t> unmapped; // addresses
    };
    struct Pool {
        Free small, large;
        bool of_graphs = false;
        Free& of(bool in_small) { return in_small ? small : large; }
    };
    Free& free_of(const Block& block) { return pools_[std::size_t(block.pool)].of(block.small); }
    [[nodiscard]] bool has_room(uint64_t bytes) const; // for more segments
    Blocks::iterator best_fit(uint64_t size, bool small); // end: none
    Blocks::iterator grown(uint64_t size, bool small);
    Blocks::iterator new_segment(uint64_t bytes, bool small, bool mapped = true); // one free block
    Blocks::iterator expand(uint64_t size, bool small, bool even_beyond); // end: the device is full
    // The block gets memory for its first bytes, in whole pages; what comes of it and its neighbours. End: no room.
    Blocks::iterator map(Blocks::iterator block, uint64_t bytes, bool even_beyond);
    void unmap(Blocks::iterator block); // its whole pages
    // Free blocks are in the lists of their pool.
    void list(Blocks::iterator block);
    void unlist(Blocks::iterator block);
    Blocks::iterator joined(Blocks::iterator block); // with free neighbours of its kind; it is not listed

    Blocks blocks_; // segments do not touch
    std::vector<Pool> pools_ = std::vector<Pool>(1);
    int pool_ = 0; // in use
    AllocatorSettings settings_;
    uint64_t next_segment_ = uint64_t(1) << 32;
    uint64_t allocated_ = 0, peak_allocated_ = 0, reserved_ = 0, peak_reserved_ = 0;
    uint64_t requested_ = 0, peak_requested_ = 0;
    bool ran_out_ = false;
};

} // namespace fourfold
