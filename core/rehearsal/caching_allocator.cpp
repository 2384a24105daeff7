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

// Of an expandable segment.
uint64_t page_bytes(bool small)
{
    return small ? kSmallSegment : kMiddleSegment;
}
} // namespace

int CachingAllocator::new_pool(bool of_graphs)
{
    pools_.push_back({{}, {}, of_graphs});
    return int(pools_.size()) - 1;
}

void CachingAllocator::list(Blocks::iterator block)
{
    if (block->second.mapped)
        free_of(block->second).mapped.emplace(block->second.bytes, block->first);
    else
        free_of(block->second).unmapped.insert(block->first);
}

void CachingAllocator::unlist(Blocks::iterator block)
{
    if (block->second.mapped)
        free_of(block->second).mapped.erase({block->second.bytes, block->first});
    else
        free_of(block->second).unmapped.erase(block->first);
}

CachingAllocator::Blocks::iterator CachingAllocator::joined(Blocks::iterator block)
{
    const auto joins = [&](Blocks::iterator other) {
        return other->second.free && other->second.segment == block->second.segment
            && other->second.mapped == block->second.mapped;
    };
    if (const auto next = std::next(block); next != blocks_.end() && joins(next)) {
        unlist(next);
        block->second.bytes += next->second.bytes;
        blocks_.erase(next);
    }
    if (block == blocks_.begin() || !joins(std::prev(block)))
        return block;
    const auto before = std::prev(block);
    unlist(before);
    before->second.bytes += block->second.bytes;
    blocks_.erase(block);
    return before;
}

bool CachingAllocator::has_room(uint64_t bytes) const
{
    return settings_.capacity == 0 || reserved_ + bytes <= settings_.capacity;
}

void CachingAllocator::give_back_segments()
{
    std::vector<uint64_t> free;
    for (const auto& [address, block] : blocks_)
        if (block.free && block.mapped && !pools_[std::size_t(block.pool)].of_graphs)
            free.push_back(address);
    for (const uint64_t address : free) {
        const auto block = blocks_.find(address);
        if (settings_.expandable) {
            unmap(block);
            continue;
        }
        const auto next = std::next(block);
        const bool whole = block->first == block->second.segment
            && (next == blocks_.end() || next->second.segment != block->second.segment);
        if (!whole)
            continue;
        unlist(block);
        reserved_ -= block->second.bytes;
        blocks_.erase(block);
    }
}

CachingAllocator::Blocks::iterator CachingAllocator::new_segment(uint64_t bytes, bool small, bool mapped)
{
    const uint64_t address = next_segment_;
    next_segment_ += rounded_up(bytes, kMiddleSegment) + kMiddleSegment; // a gap: segments are never joined
    const auto block = blocks_.emplace(address, Block{bytes, 0, address, small, true, pool_, mapped}).first;
    list(block);
    if (mapped) {
        reserved_ += bytes;
        peak_reserved_ = std::max(peak_reserved_, reserved_);
    }
    return block;
}

CachingAllocator::Blocks::iterator CachingAllocator::map(Blocks::iterator block, uint64_t bytes, bool even_beyond)
{
    const uint64_t mapped = rounded_up(bytes, page_bytes(block->second.small));
    if (!even_beyond && !has_room(mapped))
        return blocks_.end();
    unlist(block);
    if (const uint64_t left = block->second.bytes - mapped; left > 0) {
        Block rest = block->second;
        rest.bytes = left;
        block->second.bytes = mapped;
        list(blocks_.emplace(block->first + mapped, rest).first);
    }
    block->second.mapped = true;
    reserved_ += mapped;
    peak_reserved_ = std::max(peak_reserved_, reserved_);
    block = joined(block);
    list(block);
    return block;
}

void CachingAllocator::unmap(Blocks::iterator block)
{
    const uint64_t page = page_bytes(block->second.small), segment = block->second.segment;
    const uint64_t first = block->first, last = first + block->second.bytes;
    const uint64_t begin = segment + rounded_up(first - segment, page), end = segment + (last - segment) / page * page;
    if (begin >= end)
        return;
    unlist(block);
    Block part = block->second;
    if (last > end) {
        part.bytes = last - end;
        list(blocks_.emplace(end, part).first);
    }
    part.bytes = end - begin;
    part.mapped = false;
    if (begin > first) {
        block->second.bytes = begin - first;
        list(block);
        block = blocks_.emplace(begin, part).first;
    } else {
        block->second = part;
    }
    reserved_ -= end - begin;
    list(joined(block));
}

CachingAllocator::Blocks::iterator CachingAllocator::expand(uint64_t size, bool small, bool even_beyond)
{
    // The lowest free addresses behind each other, with memory or without, some of them without.
    Blocks::iterator found = blocks_.end();
    for (const uint64_t address : pools_[std::size_t(pool_)].of(small).unmapped) {
        auto first = blocks_.find(address);
        const uint64_t segment = first->second.segment;
        const auto is_free = [&](Blocks::iterator at) { return at->second.free && at->second.segment == segment; };
        if (first != blocks_.begin() && is_free(std::prev(first)))
            --first;
        uint64_t room = 0;
        for (auto at = first; room < size && at != blocks_.end() && is_free(at); ++at)
            room += at->second.bytes;
        if (room >= size) {
            found = first;
            break;
        }
    }
    if (found == blocks_.end()) { // an eighth more than the device has: gaps may stay behind
        constexpr uint64_t kAnyDevice = uint64_t(1) << 44;
        const uint64_t device = settings_.capacity > 0 ? settings_.capacity + settings_.capacity / 8 : kAnyDevice;
        found = new_segment(rounded_up(std::max(device, size), page_bytes(small)), small, /*mapped=*/false);
    }
    if (!found->second.mapped)
        found = map(found, std::min(size, found->second.bytes), even_beyond);
    while (found != blocks_.end() && found->second.bytes < size) {
        const auto next = std::next(found);
        found = map(next, std::min(size - found->second.bytes, next->second.bytes), even_beyond);
    }
    return found;
}

CachingAllocator::Blocks::iterator CachingAllocator::best_fit(uint64_t size, bool small)
{
    const auto& free = pools_[std::size_t(pool_)].of(small).mapped;
    auto found = free.lower_bound({size, 0});
    if (found == free.end())
        return blocks_.end();
    auto block = blocks_.find(found->second);
    if (!settings_.expandable)
        return block;
    // What can still grow counts as long as it can become.
    const auto room = [&](Blocks::iterator at) {
        const auto next = std::next(at);
        const bool grows = next != blocks_.end() && next->second.segment == at->second.segment && !next->second.mapped;
        return at->second.bytes + (grows ? next->second.bytes : 0);
    };
    for (++found; found != free.end(); ++found) {
        const auto next = blocks_.find(found->second);
        if (room(next) >= room(block))
            break;
        block = next;
    }
    return block;
}

CachingAllocator::Blocks::iterator CachingAllocator::grown(uint64_t size, bool small)
{
    const uint64_t bytes = segment_bytes(size);
    if (settings_.expandable) {
        auto block = expand(size, small, false);
        if (block != blocks_.end())
            return block;
        give_back_segments();
        block = expand(size, small, false);
        ran_out_ |= block == blocks_.end();
        return block == blocks_.end() ? expand(size, small, true) : block;
    }
    if (!has_room(bytes))
        give_back_segments();
    ran_out_ |= !has_room(bytes);
    return new_segment(bytes, small);
}

uint64_t CachingAllocator::allocate(uint64_t bytes)
{
    const uint64_t size = rounded_up(bytes, kBlock);
    const bool small = size <= kSmall;
    auto found = best_fit(size, small);
    if (found == blocks_.end())
        found = grown(size, small);
    unlist(found);
    const uint64_t address = found->first;
    Block& block = found->second;
    const uint64_t left = block.bytes - size;
    if (small || settings_.expandable ? left >= kBlock : left > kSmall) {
        list(blocks_.emplace(address + size, Block{left, 0, block.segment, small, true, pool_}).first);
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
    const auto block = blocks_.find(address);
    allocated_ -= block->second.bytes;
    requested_ -= block->second.requested;
    block->second.requested = 0;
    block->second.free = true;
    list(joined(block));
}

} // namespace fourfold
