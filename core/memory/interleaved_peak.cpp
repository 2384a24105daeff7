// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/interleaved_peak.h"

#include <algorithm>
#include <cstdint>

namespace fourfold {
namespace {

// The blocks of a rank's passes in one direction.
class Blocks {
public:
    Blocks(std::span<const ChunkBytes> chunks, int pp, bool backward)
        : chunks_(chunks)
        , pp_(pp)
        , backward_(backward)
    {
        for (const ChunkBytes& chunk : chunks)
            of_period_ += pp * chunk.kept;
    }
    [[nodiscard]] const ChunkBytes& chunk_of(std::int64_t pass) const { return at(pass / pp_ % count()); }
    // Bytes that the first `passes` keep, or free.
    [[nodiscard]] double kept_by(std::int64_t passes) const
    {
        const std::int64_t blocks = passes / pp_;
        double bytes = double(blocks / count()) * of_period_;
        const std::int64_t in_period = blocks % count();
        for (std::int64_t block = 0; block < in_period; ++block)
            bytes += pp_ * at(block).kept;
        return bytes + double(passes % pp_) * at(in_period).kept;
    }
    [[nodiscard]] std::int64_t end_of_block(std::int64_t pass) const { return (pass / pp_ + 1) * pp_; }

private:
    [[nodiscard]] std::int64_t count() const { return std::int64_t(chunks_.size()); }
    [[nodiscard]] const ChunkBytes& at(std::int64_t block) const
    {
        return chunks_[static_cast<std::size_t>(backward_ ? count() - 1 - block : block)];
    }

    std::span<const ChunkBytes> chunks_;
    int pp_;
    bool backward_;
    double of_period_ = 0;
};

} // namespace

double interleaved_peak(std::span<const ChunkBytes> chunks, int stage, int pp, int micro_batches)
{
    const auto count = std::int64_t(chunks.size());
    const std::int64_t total = count * micro_batches, period = count * pp;
    const std::int64_t behind = std::min(2 * std::int64_t(pp - 1 - stage) + (count - 1) * pp, total);
    const ChunkBytes& first = chunks.front();
    if (std::all_of(chunks.begin() + 1, chunks.end(), [&](const ChunkBytes& chunk) {
            return chunk.kept == first.kept && chunk.in_forward == first.in_forward
                && chunk.in_backward == first.in_backward;
        }))
        return double(std::min(behind + 1, total)) * first.kept + std::max(first.in_forward, first.in_backward);

    const Blocks forwards(chunks, pp, false), backwards(chunks, pp, true);
    double peak = 0;
    const auto alive = [&](std::int64_t forward, std::int64_t backward) {
        return forwards.kept_by(forward) - backwards.kept_by(backward);
    };
    // Warm-up: only forwards, what they keep grows.
    for (std::int64_t pass = 0; pass < behind; pass = forwards.end_of_block(pass)) {
        const std::int64_t last = std::min(forwards.end_of_block(pass), behind) - 1;
        peak = std::max(peak, alive(last + 1, 0) + forwards.chunk_of(last).in_forward);
    }
    // A forward and a backward in turn: `pass` counts the backwards.
    const std::int64_t steady = std::min(total - behind, period);
    for (std::int64_t pass = 0; pass < steady;) {
        const std::int64_t end
            = std::min({backwards.end_of_block(pass), forwards.end_of_block(pass + behind) - behind, steady});
        const double running
            = std::max(forwards.chunk_of(pass + behind).in_forward, backwards.chunk_of(pass).in_backward);
        for (const std::int64_t at : {pass, end - 1})
            peak = std::max(peak, alive(at + behind + 1, at) + running);
        pass = end;
    }
    // Only backwards: what is kept shrinks.
    for (std::int64_t pass = total - behind; pass < total; pass = backwards.end_of_block(pass))
        peak = std::max(peak, alive(total, pass) + backwards.chunk_of(pass).in_backward);
    return peak;
}

} // namespace fourfold
