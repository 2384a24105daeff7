// SPDX-License-Identifier: GPL-3.0-or-later
// Operations with a hand-written gradient, for files that do not see autograd's headers.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace fourfold::trainer {

// What becomes of an operation where a pass is repeated and only some results are kept (kept_results.h).
enum class Repeat {
    again, // computed again
    product, // a matrix product
    summed, // a matrix product of which nothing is used but its sum over ranks
    costly, // attention or a sum over ranks
};

// One use of an operation. Both functions run without building a graph.
class GradientFunction {
public:
    using Tensors = std::vector<at::Tensor>;

    virtual ~GradientFunction() = default;
    // The outputs; `kept` is what backward() will get, beside the gradients: inputs, outputs or anything else.
    virtual Tensors forward(const Tensors& inputs, Tensors& kept) = 0;
    // Gradients of the inputs, in order, from those of the outputs; an undefined tensor where an input needs none.
    virtual Tensors backward(const Tensors& gradients, const Tensors& kept) = 0;
    [[nodiscard]] virtual Repeat repeat() const { return Repeat::again; }
};

// The outputs of `function`, with a node in the graph where an input requires a gradient.
GradientFunction::Tensors apply(
    const std::shared_ptr<GradientFunction>& function, const GradientFunction::Tensors& inputs);

} // namespace fourfold::trainer
