// SPDX-License-Identifier: GPL-3.0-or-later
// What a training job can be made of, as choices that stand beside each other: every technique is a setting of one.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::testing {

// Sides of a model's tensors: small ones that no tile divides, or those that a recipe for numbers of 8 bits takes after
// a tensor-parallel cut in two.
struct Sides {
    int hidden = 32, ffn = 48, heads = 4, head = 8, kv_heads = 2, seq_len = 16;
    int expert = 16; // of an expert's hidden units
    int latent = 8; // of what queries, keys and values are made of
};

struct PairSetting {
    std::string name;
    std::vector<std::string> mesh, model; // assignments: of the compared plan alone, and of its one rank too
    int ranks = 1; // factor of the job's size
    // What it means nothing without, as names of settings of other choices: one of these lists.
    std::vector<std::vector<std::string>> companions = {};
    Sides sides = {}; // of a precision
    std::string (*model_of)(const Sides&) = nullptr; // of a model
};

struct Choice {
    std::string name;
    std::vector<PairSetting> settings; // the first: what a plan has that says nothing
};

// In the order of a job's name.
const std::vector<Choice>& choices();

} // namespace fourfold::testing
