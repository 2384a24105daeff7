// SPDX-License-Identifier: GPL-3.0-or-later
// What a model is to predict of a micro-batch.
#pragma once

#include <ATen/core/TensorBody.h>

#include <vector>

namespace fourfold::trainer {

// All [seq_len / cp, sequences] int64, this rank's part of the sequences. A label below 0: there is none.
struct Targets {
    at::Tensor labels;
    bool all_count = false; // each token has a label
    // Of each module that predicts further ahead: the tokens that were predicted before it, and what follows them.
    struct Ahead {
        at::Tensor tokens, labels;
    };
    std::vector<Ahead> ahead;
};

} // namespace fourfold::trainer
