// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/block_pool.h"

#include <algorithm>
#include <iterator>

#include <sys/mman.h>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kPage = 4096;
constexpr std::size_t kGrowth = std::size_t(1) << 26; // so much more may be used at once
constexpr std::size_t kSpareChunks = 2; // beyond what blocks took: they begin and end within chunks

std::size_t rounded_up(std::size_t bytes, std::size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}
} // namespace

std::unique_ptr<BlockPool> BlockPool::reserve(std::size_t bytes)
{
    bytes = rounded_up(bytes, kChunk);
    const std::size_t mapped = bytes + kChunk;
    void* const mapping = ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return nullptr;
    char* const begin = static_cast<char*>(mapping)
        + (rounded_up(reinterpret_cast<std::size_t>(mapping), kChunk) - reinterpret_cast<std::size_t>(mapping));
    return std::unique_ptr<BlockPool>(new BlockPool(begin, bytes, mapping, mapped));
}

BlockPool::BlockPool(char* begin, std::size_t bytes, void* mapping, std::size_t mapped)
    : begin_(begin)
    , bytes_(bytes)
    , mapping_(mapping)
    , mapped_(mapped)
    , chunks_(bytes / kChunk)
{
    add_free(0, bytes);
}

BlockPool::~BlockPool()
{
    ::munmap(mapping_, mapped_);
}

void BlockPool::add_free(std::size_t begin, std::size_t bytes)
{
    free_.emplace(begin, bytes);
    by_size_.emplace(bytes, begin);
}

void BlockPool::remove_free(Free::iterator range)
{
    by_size_.erase({range->second, range->first});
    free_.erase(range);
}

bool BlockPool::allow_up_to(std::size_t end)
{
    if (end <= allowed_)
        return true;
    const std::size_t wanted = std::min(bytes_, rounded_up(end, kGrowth));
    char* const from = begin_ + allowed_;
    if (::mprotect(from, wanted - allowed_, PROT_READ | PROT_WRITE) != 0)
        return false;
    ::madvise(from, wanted - allowed_, MADV_HUGEPAGE); // where the system has none: small ones
    allowed_ = wanted;
    return true;
}

void BlockPool::count(std::size_t begin, std::size_t bytes, bool comes)
{
    for (std::size_t i = begin / kChunk; i * kChunk < begin + bytes; ++i) {
        Chunk& chunk = chunks_[i];
        chunk.blocks += comes ? 1 : -1;
        chunk.round = round_;
        touched_ += chunk.touched ? 0 : 1;
        chunk.touched = true;
    }
}

// Of the chunks [first, last), from the last on, those that `which` says, until no more than `least_left` are touched.
template <typename Which>
void BlockPool::release(std::size_t first, std::size_t last, std::size_t least_left, Which&& which)
{
    while (last > first && touched_ > least_left) {
        std::size_t begin = last; // of a stretch that goes back together
        for (; begin > first && touched_ > least_left; --begin) {
            Chunk& chunk = chunks_[begin - 1];
            if (!chunk.touched || chunk.blocks > 0 || !which(chunk))
                break;
            chunk.touched = false;
            --touched_;
        }
        if (begin < last)
            ::madvise(begin_ + begin * kChunk, (last - begin) * kChunk, MADV_DONTNEED);
        last = begin == last ? last - 1 : begin;
    }
}

// The largest free ranges first: blocks of their size are rare.
void BlockPool::keep_within(std::size_t chunks)
{
    for (auto range = by_size_.rbegin(); range != by_size_.rend() && touched_ > chunks; ++range) {
        const auto [bytes, begin] = *range;
        if (bytes < kChunk)
            break;
        const std::size_t end = std::min(begin + bytes, allowed_);
        release(rounded_up(begin, kChunk) / kChunk, end / kChunk, chunks, [](const Chunk&) { return true; });
    }
}

void* BlockPool::take(std::size_t bytes)
{
    bytes = rounded_up(std::max<std::size_t>(bytes, 1), kPage);
    const std::lock_guard guard(lock_);
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end() || !allow_up_to(best->second + bytes))
        return nullptr;
    const auto [found, begin] = *best;
    remove_free(free_.find(begin));
    if (found > bytes)
        add_free(begin + bytes, found - bytes);
    blocks_.emplace(begin, bytes);
    count(begin, bytes, true);
    taken_ += bytes;
    most_taken_ = std::max(most_taken_, taken_);
    keep_within(rounded_up(most_taken_, kChunk) / kChunk + kSpareChunks);
    return begin_ + begin;
}

bool BlockPool::give_back(void* block)
{
    char* const at = static_cast<char*>(block);
    if (at < begin_ || at >= begin_ + bytes_)
        return false;
    const std::lock_guard guard(lock_);
    const auto found = blocks_.find(std::size_t(at - begin_));
    if (found == blocks_.end())
        return false;
    std::size_t begin = found->first, bytes = found->second;
    blocks_.erase(found);
    count(begin, bytes, false);
    taken_ -= bytes;
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == begin + bytes) {
        bytes += next->second;
        remove_free(next++);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == begin) {
            begin = before->first;
            bytes += before->second;
            remove_free(before);
        }
    }
    add_free(begin, bytes);
    return true;
}

void BlockPool::release_unused()
{
    const std::lock_guard guard(lock_);
    release(0, allowed_ / kChunk, 0, [this](const Chunk& chunk) { return chunk.round != round_; });
    ++round_;
}

std::size_t BlockPool::taken() const
{
    const std::lock_guard guard(lock_);
    return taken_;
}

std::size_t BlockPool::most_taken() const
{
    const std::lock_guard guard(lock_);
    return most_taken_;
}

std::size_t BlockPool::touched() const
{
    const std::lock_guard guard(lock_);
    return touched_ * kChunk;
}

} // namespace fourfold::trainer
