// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a step that a run's trace shows furthest from its prediction.
#include "core/predict/term_off.h"

#include <gtest/gtest.h>

using namespace fourfold;

namespace {

Timeline two_stages(double backward_s, double length_s)
{
    Timeline timeline;
    timeline.stages = 2;
    timeline.length_s = length_s;
    for (int stage = 0; stage < 2; ++stage) {
        timeline.spans.push_back({stage, SpanKind::forward, 0, 0, 0, 1});
        timeline.spans.push_back({stage, SpanKind::backward, 0, 0, 1, 1 + backward_s});
        // Beside the backward pass: it is a term of its own and makes nobody wait.
        timeline.spans.push_back({stage, SpanKind::gradient_reduce, -1, 0, 1, 1 + backward_s / 2});
    }
    return timeline;
}

} // namespace

TEST(TermOff, TheFurthestComesFirstAndWaitingIsWhatNothingCovers)
{
    const std::vector<TermOff> terms = terms_off(two_stages(2, 3.5), two_stages(3, 4.1));
    ASSERT_EQ(terms.size(), 4u);
    EXPECT_EQ(terms[0].term, "backward");
    EXPECT_DOUBLE_EQ(terms[0].difference_s(), 1);
    EXPECT_EQ(terms[1].term, "gradient reduce");
    EXPECT_DOUBLE_EQ(terms[1].difference_s(), 0.5);
    EXPECT_EQ(terms[2].term, "waiting");
    EXPECT_NEAR(terms[2].predicted_s, 0.5, 1e-12);
    EXPECT_NEAR(terms[2].measured_s, 0.1, 1e-12);
    EXPECT_EQ(terms[3].term, "forward");
    EXPECT_EQ(term_off_text(terms[0]), "backward: 2 s predicted, 3 s measured (+1 s)");
}

TEST(TermOff, ATermThatOnlyOneTimelineHasIsOffByAllOfIt)
{
    Timeline measured = two_stages(2, 3);
    measured.spans.push_back({0, SpanKind::optimizer, -1, 0, 3, 5});
    measured.length_s = 5;
    const std::vector<TermOff> terms = terms_off(two_stages(2, 3), measured);
    EXPECT_EQ(terms[0].predicted_s, 0);
    EXPECT_DOUBLE_EQ(terms[0].measured_s, 1); // 2 s on one of two stages; the other one waits as long
}

// One of three micro-batches is listed; the two others fill the middle.
TEST(TermOff, MicroBatchesThatAreNotListedWorkLikeTheOthers)
{
    Timeline planned{1, 9, {{0, SpanKind::forward, 0, 0, 0, 1}, {0, SpanKind::backward, 0, 0, 7, 9}}},
        measured{1, 9, {}};
    for (int i = 0; i < 3; ++i) {
        measured.spans.push_back({0, SpanKind::forward, i, 0, 3.0 * i, 3.0 * i + 1});
        measured.spans.push_back({0, SpanKind::backward, i, 0, 3.0 * i + 1, 3.0 * i + 3});
    }
    for (const TermOff& term : terms_off({planned, SteadyPart{1, 7, 2}}, measured))
        EXPECT_NEAR(term.difference_s(), 0, 1e-12) << term.term;
}

TEST(TermOff, WhatSumsLoseIsNoWaiting)
{
    Timeline timeline{1, 0, {}};
    constexpr double kEach = 0.1; // no number of binary digits
    for (int i = 0; i < 1000; ++i, timeline.length_s += kEach)
        timeline.spans.push_back({0, SpanKind::forward, i, 0, timeline.length_s, timeline.length_s + kEach});
    timeline.length_s = 100;
    for (const TermOff& term : terms_off(timeline, timeline)) {
        if (term.term == "waiting") {
            EXPECT_EQ(term.predicted_s, 0);
        }
    }
}

TEST(TermOff, ARunWithoutATraceHasNone)
{
    EXPECT_FALSE(term_most_off(Json::object(), {}));
    EXPECT_FALSE(term_most_off(Json::object(), {Json{{"event", "eval"}, {"loss", 2.0}}}));
}
