// SPDX-License-Identifier: GPL-3.0-or-later
// What the attention of a layer sees, and what is added to its scores.
#pragma once

#include "core/layout/training.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace fourfold::trainer {

// Where documents begin in the sequences of a micro-batch: no query sees a key of another document.
struct DocumentMask {
    at::Tensor starts; // [b, s] int64, of every position of the whole sequences the first one of its document;
                       // undefined: all is one document
    std::shared_ptr<const std::vector<int64_t>> earliest; // of each position, the least of the sequences'
};

struct AttentionRule {
    AttentionKernel kernel = AttentionKernel::flash2;
    double scale = 1; // of scores
    int64_t window = 0; // tokens, the query's own among them; 0: all up to the query
    bool chunked = false; // back to the begin of the query's own chunk of so many tokens instead
    at::Tensor slopes; // of each head's linear bias (attention.h); undefined: none
    DocumentMask documents;

    [[nodiscard]] bool plain() const { return window == 0 && !slopes.defined() && !documents.starts.defined(); }
    // No query from this position on sees what lies before.
    [[nodiscard]] int64_t first_seen(int64_t position) const
    {
        const int64_t own = documents.earliest ? (*documents.earliest)[std::size_t(position)] : 0;
        if (window == 0)
            return own;
        return std::max(own, chunked ? position / window * window : position - window + 1);
    }
};

// Positions that follow each other.
struct Run {
    int64_t begin = 0, length = 0;
    [[nodiscard]] int64_t end() const { return begin + length; }
    bool operator==(const Run&) const = default;
};
using Runs = std::vector<Run>; // rising

} // namespace fourfold::trainer
