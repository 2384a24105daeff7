// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/interleaved_peak.h"

#include <algorithm>

namespace fourfold {
namespace {

// A rank's passes in one direction: blocks of `pp`, from chunk to chunk and round again.
class Passes {
public:
    Passes(std::span<const ChunkBytes> chunks, int pp, bool backward)
        : chunks_(chunks)
        , pp_(pp)
        , step_(backward ? -1 : 1)
        , chunk_(backward ? int(chunks.size()) - 1 : 0)
        , left_(pp)
    {
    }
    [[nodiscard]] const ChunkBytes& chunk() const { return chunks_[static_cast<std::size_t>(chunk_)]; }
    [[nodiscard]] int left_in_block() const { return left_; }
    // At most to the end of the block.
    void advance(int passes)
    {
        left_ -= passes;
        if (left_ > 0)
            return;
        left_ = pp_;
        chunk_ += step_;
        if (chunk_ < 0)
            chunk_ = int(chunks_.size()) - 1;
        else if (chunk_ == int(chunks_.size()))
            chunk_ = 0;
    }

private:
    std::span<const ChunkBytes> chunks_;
    int pp_, step_, chunk_, left_;
};

bool alike(std::span<const ChunkBytes> chunks)
{
    const ChunkBytes& first = chunks.front();
    return std::all_of(chunks.begin() + 1, chunks.end(), [&](const ChunkBytes& chunk) {
        return chunk.kept == first.kept && chunk.in_forward == first.in_forward
            && chunk.in_backward == first.in_backward;
    });
}

} // namespace

double interleaved_peak(std::span<const ChunkBytes> chunks, int stage, int pp, int micro_batches)
{
    const int count = int(chunks.size()), total = count * micro_batches;
    const int behind = std::min(2 * (pp - 1 - stage) + (count - 1) * pp, total);
    const ChunkBytes& first = chunks.front();
    if (alike(chunks))
        return std::min(behind + 1, total) * first.kept + std::max(first.in_forward, first.in_backward);

    Passes forward(chunks, pp, false), backward(chunks, pp, true);
    double peak = 0, alive = 0;
    // Warm-up: only forwards, what they keep grows.
    for (int left = behind; left > 0;) {
        const int passes = std::min(left, forward.left_in_block());
        alive += passes * forward.chunk().kept;
        peak = std::max(peak, alive + forward.chunk().in_forward);
        forward.advance(passes);
        left -= passes;
    }
    // A forward and a backward in turn, one period of them.
    for (int left = std::min(total - behind, count * pp); left > 0;) {
        const int passes = std::min({left, forward.left_in_block(), backward.left_in_block()});
        const double kept = forward.chunk().kept, change = kept - backward.chunk().kept;
        const double running = std::max(forward.chunk().in_forward, backward.chunk().in_backward);
        peak = std::max(peak, alive + kept + running + std::max(0.0, (passes - 1) * change));
        alive += passes * change;
        forward.advance(passes);
        backward.advance(passes);
        left -= passes;
    }
    // Only backwards, looked at from their end: what is kept grows from the first chunk on.
    Passes before_end(chunks, pp, false);
    alive = 0;
    for (int left = behind; left > 0;) {
        const int passes = std::min(left, before_end.left_in_block());
        alive += passes * before_end.chunk().kept;
        peak = std::max(peak, alive + before_end.chunk().in_backward);
        before_end.advance(passes);
        left -= passes;
    }
    return peak;
}

} // namespace fourfold
