// SPDX-License-Identifier: GPL-3.0-or-later
// Results of some operations of a pass, for a second pass over the same operations that computes the others again:
// selective recomputation by operation.
#pragma once

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/offload/activation_offload.h"

#include <cstddef>

namespace fourfold::trainer {

class KeptResults {
public:
    enum class Choice {
        products, // every matrix product
        operations, // attention, sums over ranks and every second matrix product, the first among them
    };
    explicit KeptResults(Choice choice)
        : choice_(choice)
    {
    }

    // While it lives, operations that this thread applies give their results to `results`, or, where `repeated`, take
    // them from there, in the same order.
    class Use {
    public:
        Use(KeptResults& results, bool repeated);
        ~Use();
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        KeptResults* before_;
    };
    // Of this thread; null: all operations compute.
    static KeptResults* in_use();

    GradientFunction::Tensors forward(
        GradientFunction& function, const GradientFunction::Tensors& inputs, GradientFunction::Tensors& kept);

private:
    using Tensors = GradientFunction::Tensors;
    // A tensor that its operation keeps for its gradient: an input, an output, or one that is nowhere else.
    struct Keepsake {
        int input = -1, output = -1;
        KeptTensor own;
    };
    struct Result {
        std::vector<KeptTensor> outputs;
        std::vector<Keepsake> keepsakes;
        std::vector<at::Tensor> in_their_place; // of outputs that nobody reads: their shapes, without values
    };
    [[nodiscard]] bool keeps(const GradientFunction& function);

    Choice choice_;
    bool repeated_ = false;
    int products_ = 0; // so far in this pass
    std::size_t next_ = 0;
    std::vector<Result> results_;
};

} // namespace fourfold::trainer
