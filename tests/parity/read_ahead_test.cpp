// SPDX-License-Identifier: GPL-3.0-or-later
// Micro-batches that are read while another is computed.
#include "runner/trainer/data/read_ahead.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <atomic>

namespace fourfold::testing {
namespace {

using trainer::ReadAhead;

TEST(ReadAhead, GivesWhatWasAskedForAndReadsEachOnce)
{
    std::atomic<int> reads = 0;
    const auto reading = [&reads](double value) {
        return [&reads, value]() -> Expected<at::Tensor> {
            ++reads;
            return at::full({1}, value);
        };
    };
    const auto never = []() -> Expected<at::Tensor> { return Problem{ProblemCode::failed, "read twice", "", ""}; };
    ReadAhead ahead;
    EXPECT_EQ(ahead.take({0, 0}, reading(5))->item<double>(), 5) << "nobody asked for it: read now";
    ahead.ask({0, 1}, reading(6));
    ahead.ask({0, 1}, never);
    EXPECT_EQ(ahead.take({0, 1}, never)->item<double>(), 6);
    EXPECT_EQ(reads, 2);
    // A problem comes to who takes it.
    ahead.ask({8, 0}, never);
    const auto refused = ahead.take({8, 0}, reading(7));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "read twice");
    // What nobody took, as before a restart, makes room.
    for (int sample = 16; sample < 24; ++sample)
        ahead.ask({sample, 0}, reading(sample));
    EXPECT_EQ(ahead.take({23, 0}, never)->item<double>(), 23);
    EXPECT_EQ(ahead.take({16, 0}, reading(-1))->item<double>(), -1);
}

} // namespace
} // namespace fourfold::testing
