// SPDX-License-Identifier: GPL-3.0-or-later
// Two passes that take turns: in which order, with which thread's state, and what becomes of a failure.
#include "runner/trainer/pipeline_parallel/pass_turns.h"

#include "runner/trainer/autograd/before_backward.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace fourfold::trainer {
namespace {

class Turns : public ::testing::Test {
protected:
    // A pass that says its name `parts` times and gives the turn away between.
    PassTurns::Pass says(char name, int parts)
    {
        return [this, name, parts] {
            for (int part = 0; part < parts; ++part) {
                if (part > 0)
                    turns_.give();
                said_ += name;
            }
        };
    }
    PassTurns::Changes changes()
    {
        return [this](int pass, bool runs) { changes_ += std::to_string(runs ? pass + 1 : -pass - 1) + ' '; };
    }

    PassTurns turns_;
    std::string said_, changes_;
};

TEST_F(Turns, PassAtEachGiveUntilOneEnds)
{
    turns_.run(says('a', 3), says('b', 5), changes());
    EXPECT_EQ(said_, "abababbb");
    said_.clear();
    turns_.run(says('a', 4), says('b', 1), changes());
    EXPECT_EQ(said_, "abaaa");
    turns_.give(); // where nothing runs beside
}

TEST_F(Turns, TellWhetherAnotherPassGoesOn)
{
    const auto asks = [this](int parts) {
        return [this, parts] {
            for (int part = 0; part < parts; ++part) {
                said_ += turns_.has_other() ? '2' : '1';
                turns_.give();
            }
        };
    };
    EXPECT_FALSE(turns_.has_other());
    turns_.run(asks(2), asks(4), changes());
    EXPECT_EQ(said_, "222211"); // two of each, and what is left of the second
    EXPECT_FALSE(turns_.has_other());
}

TEST_F(Turns, ChangesAreToldInPairs)
{
    turns_.run(says('a', 2), says('b', 2), changes());
    EXPECT_EQ(changes_, "1 -1 2 -2 1 -1 2 -2 ");
}

TEST_F(Turns, AFailureEndsBothAndIsThrown)
{
    const auto fails = [this] {
        said_ += 'f';
        turns_.give();
        throw std::runtime_error("out of tokens");
    };
    for (const bool first : {true, false}) {
        said_.clear();
        std::string what;
        try {
            turns_.run(first ? PassTurns::Pass(fails) : says('a', 9), first ? says('b', 9) : PassTurns::Pass(fails),
                changes());
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
        EXPECT_EQ(what, "out of tokens");
        EXPECT_EQ(said_, first ? "fb" : "afa");
    }
    said_.clear();
    turns_.run(says('a', 2), says('b', 2), changes()); // the next two are none the worse
    EXPECT_EQ(said_, "abab");
}

TEST_F(Turns, GradientModeIsTheCallersAndABackwardPassMayGive)
{
    const at::Tensor x = at::ones({2}).requires_grad_(true);
    const at::Tensor y = before_backward(x.mul(3), [this] {
        turns_.give();
        said_ += 'b';
    }).sum();
    turns_.run(
        says('f', 2),
        [&] {
            EXPECT_TRUE(at::GradMode::is_enabled());
            y.backward();
        },
        changes());
    EXPECT_EQ(said_, "ffb");
    EXPECT_EQ(x.grad().sum().item<double>(), 6);
}

} // namespace
} // namespace fourfold::trainer
