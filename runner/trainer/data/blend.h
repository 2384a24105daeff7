// SPDX-License-Identifier: GPL-3.0-or-later
// Which source each sample of a weighted blend comes from: always the source that is furthest behind its share, as
// Megatron-LM does (megatron/core/datasets/helpers.cpp, build_blending_indices). With weights that are fractions of a
// common denominator no source is behind after so many samples: the order repeats, and nothing is kept of the samples
// but one such period.
#pragma once

#include <cstdint>
#include <vector>

namespace fourfold::trainer {

class Blend {
public:
    // `weights` add up to 1, each above 0; at most 65,535. Their denominator is the smallest one up to 4,096 that fits
    // all of them to 10^-10; otherwise they are rounded to fractions of 2^20, by largest remainder.
    explicit Blend(const std::vector<double>& weights);

    struct Draw {
        int source = 0;
        int64_t before = 0; // samples of this source among those before
    };
    // Of sample `number` of the run, from 0.
    [[nodiscard]] Draw at(int64_t number) const;
    // Samples of each source in a period; 0 where a weight is too small for any.
    [[nodiscard]] const std::vector<int64_t>& shares() const { return shares_; }
    [[nodiscard]] int64_t period() const { return int64_t(source_.size()); }

private:
    std::vector<int64_t> shares_;
    std::vector<uint16_t> source_; // of each sample of a period
    std::vector<uint32_t> before_;
};

} // namespace fourfold::trainer
