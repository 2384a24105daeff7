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

void CachingAllocator::give_back_segments()
{
    for (auto block = blocks_.begin(); block != blocks_.end();) {
        const auto next = std::next(block);
        const bool whole = block->second.free && block->first == block->second.segment
            && (next == blocks_.end() || next->second.segment != block->second.segment);
        if (whole) {
            pool(block->second.small).erase({block->second.bytes, block->first});
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
    blocks_[address] = {bytes, 0, address, small, true};
    pool(small).emplace(bytes, address);
    reserved_ += bytes;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
}

uint64_t CachingAllocator::allocate(uint64_t bytes)
{
    const uint64_t size = rounded_up(bytes, kBlock);
    const bool small = size <= kSmall;
    auto found = pool(small).lower_bound({size, 0});
    if (found == pool(small).end()) {
        new_segment(segment_bytes(size), small);
        found = pool(small).lower_bound({size, 0});
    }
    const uint64_t address = found->second;
    pool(small).erase(found);
    Block& block = blocks_.at(address);
    const uint64_t left = block.bytes - size;
    if (small ? left >= kBlock : left > kSmall) {
        blocks_[address + size] = {left, 0, block.segment, small, true};
        pool(small).emplace(left, address + size);
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
        pool(next->second.small).erase({next->second.bytes, next->first});
        at->second.bytes += next->second.bytes;
        blocks_.erase(next);
    }
    if (at != blocks_.begin() && joins(std::prev(at))) {
        const auto before = std::prev(at);
        pool(before->second.small).erase({before->second.bytes, before->first});
        before->second.bytes += at->second.bytes;
        blocks_.erase(at);
        at = before;
    }
    at->second.free = true;
    pool(at->second.small).emplace(at->second.bytes, at->first);
}

} // namespace fourfold
