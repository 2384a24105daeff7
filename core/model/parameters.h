// SPDX-License-Identifier: GPL-3.0-or-later
// The parameter table: every tensor of a model, with its full shape and how tensor parallelism splits it.
// One source for the planner's memory, the trainer's initialisation and checkpoints.
#pragma once

#include "core/model/layer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fourfold {

struct Parameter {
    std::string name; // Hugging Face name, e.g. "model.layers.0.self_attn.q_proj.weight"
    std::vector<int64_t> shape; // full (unsharded) shape, output features first for linear layers
    int layer = -1; // -1: embedding, final norm, head
    int expert = -1; // number of the routed expert that it belongs to
    Role role = Role::inner; // a bias has its weight's
    int tp_dim = -1; // dimension that tensor parallelism splits; -1 = replicated over tp
    ParameterKind kind = ParameterKind::norm;
    bool key_heads = false; // its rows are key/value heads, of which tp ranks beyond their number hold copies
    bool weight_decay = true; // false for norms and biases
    double init_std = 0.02; // normal(0, init_std); 0 = constant init_value
    double init_value = 0;

    [[nodiscard]] int64_t elements() const;
};

// Every parameter of layers [first_layer, last_layer), plus the embedding when `with_embedding` and the final norm and
// head when `with_head` (a tied head adds no tensor where the embedding is present) with the modules behind them, whose
// layers count on from the model's. `vocab` is the padded vocabulary.
std::vector<Parameter> parameter_table(
    const ModelShape& model, int64_t vocab, int first_layer, int last_layer, bool with_embedding, bool with_head);

} // namespace fourfold
