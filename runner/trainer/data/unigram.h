// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of a model that knows only how often each token occurs: what a trained model must get below.
#pragma once

#include "runner/trainer/data/sampler.h"

namespace fourfold::trainer {

// Cross-entropy in nats per token of the held-out tokens under the training data's unigram distribution (each of the
// `vocab` counts plus one, so that an unseen token has a finite cost). Sources count by their weights. Of each source
// at most the first 2^24 tokens are read.
Expected<double> unigram_entropy(const Sampler& training, const Sampler& held_out, int64_t vocab);

} // namespace fourfold::trainer
