// SPDX-License-Identifier: GPL-3.0-or-later
// A Llama-style decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU, tied or untied head. Tensor
// parallelism is in it as the borders of its regions; on one rank they are the identity.
#pragma once

#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/model/rotary.h"
#include "runner/trainer/model/weights.h"

namespace fourfold::trainer {

class Llama {
public:
    // `weights` and `mesh` must outlive the model and its graphs. `options`: fp32 (fp64 for fp64 weights), for what is
    // never computed in bf16.
    Llama(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, const at::TensorOptions& options);

    // Sum over the micro-batch's tokens of the cross-entropy in nats. tokens, labels: [seq_len, sequences] int64.
    [[nodiscard]] at::Tensor loss_sum(const at::Tensor& tokens, const at::Tensor& labels) const;

private:
    struct Layer {
        at::Tensor attention_norm, query, key, value, query_bias, key_bias, value_bias, output;
        at::Tensor mlp_norm, gate, up, down;
    };

    [[nodiscard]] at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) const;
    [[nodiscard]] at::Tensor block(const Layer& layer, const at::Tensor& x) const;
    [[nodiscard]] at::Tensor attention(const Layer& layer, const at::Tensor& x) const;
    [[nodiscard]] at::Tensor mlp(const Layer& layer, const at::Tensor& x) const;

    const Mesh& mesh_;
    ModelShape shape_;
    bool sequence_parallel_;
    int recomputed_layers_;
    at::Tensor embedding_, final_norm_, head_;
    std::vector<Layer> layers_;
    RotaryTable rotary_;
};

} // namespace fourfold::trainer
