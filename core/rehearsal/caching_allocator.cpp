// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/caching_allocator.h"

#include <algorithm>
#include <iterator>

namespace fourfold {

namespace {
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBlock = 512, kSmall = kMiB, kSmallSegment = 2 * kMiB;
constexpr uint64_t kMiddle = 10 * kMiB, kMiddleSegment = 20 * kMiB, kLargeStep = 2 * kMiB;

uint64_t rounded_up(uint64_t bytes, uint64_t step)
{
    return (bytes + step - 1) / step * step;
}

uint64_t segment_bytes(uint64_t bytes)
{
    return bytes <= kSmall ? kSmallSegment : bytes < kMiddle ? kMiddleSegment : rounded_up(bytes, kLargeStep);
}
} // namespace

int CachingAllocator::new_pool(bool of_graphs)
{
    pools_.push_back({{}, {}, of_graphs});
    return int(pools_.size()) - 1;
}

void CachingAllocator::give_back_segments()
{
    for (auto block = blocks_.begin(); block != blocks_.end();) {
        const auto next = std::next(block);
        const bool whole = block->second.free && block->first == block->second.segment
            && !pools_[std::size_t(block->second.pool)].of_graphs
            && (next == blocks_.end() || next->second.segment != block->second.segment);
        if (whole) {
            free_of(block->second).erase({block->second.bytes, block->first});
            reserved_ -= block->second.bytes;
            blocks_.erase(block);
        }
        block = next;
    }
}

void CachingAllocator::new_segment(uint64_t bytes, bool small)
{
    if (capacity_ > 0 && reserved_ + bytes > capacity_)
        give_back_segments();
    ran_out_ |= capacity_ > 0 && reserved_ + bytes > capacity_;
    const uint64_t address = next_segment_;
    next_segment_ += rounded_up(bytes, kMiddleSegment) + kMiddleSegment; // a gap: segments are never joined
    blocks_[address] = {bytes, 0, address, small, true, pool_};
    free_of(blocks_[address]).emplace(bytes, address);
    reserved_ += bytes;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
}

uint64_t CachingAllocator::allocate(uint64_t bytes)
{
    const uint64_t size = rounded_up(bytes, kBlock);
    const bool small = size <= kSmall;
    Free& free = pools_[std::size_t(pool_)].of(small);
    auto found = free.lower_bound({size, 0});
    if (found == free.end()) {
        new_segment(segment_bytes(size), small);
        found = free.lower_bound({size, 0});
    }
    const uint64_t address = found->second;
    free.erase(found);
    Block& block = blocks_.at(address);
    const uint64_t left = block.bytes - size;
    if (small ? left >= kBlock : left > kSmall) {
        blocks_[address + size] = {left, 0, block.segment, small, true, pool_};
        free.emplace(left, address + size);
        block.bytes = size;
    }
    block.free = false;
    block.requested = bytes;
    allocated_ += block.bytes;
    requested_ += bytes;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
    peak_requested_ = std::max(peak_requested_, requested_);
    return address;
}

void CachingAllocator::free(uint64_t address)
{
    auto at = blocks_.find(address);
    allocated_ -= at->second.bytes;
    requested_ -= at->second.requested;
    at->second.requested = 0;
    const auto joins = [&](auto other) { return other->second.free && other->second.segment == at->second.segment; };
    if (const auto next = std::next(at); next != blocks_.end() && joins(next)) {
        free_of(next->second).erase({next->second.bytes, next->first});
        at->second.bytes += next->second.bytes;
        blocks_.erase(next);
    }
    if (at != blocks_.begin() && joins(std::prev(at))) {
        const auto before = std::prev(at);
        free_of(before->second).erase({before->second.bytes, before->first});
        before->second.bytes += at->second.bytes;
        blocks_.erase(at);
        at = before;
    }
    at->second.free = true;
    free_of(at->second).emplace(at->second.bytes, at->first);
}

} // namespace fourfold
