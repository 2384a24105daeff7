// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of what training.compile chooses the form of (runner/trainer/kernels): with each operation what its
// plain form is made of, operands to try it on, and the fewest bytes that it can move. Whoever adds one adds a row.
#pragma once

#include "core/program/plain_forms.h"
#include "runner/trainer/kernels/operations.h"

#include <functional>
#include <string>
#include <vector>

namespace fourfold::testing {

using Tensors = std::vector<at::Tensor>;

struct FusedOperation {
    const char* name;
    bool differentiable;
    // Operands: [rows, width] and what goes with them. Those that need a gradient come first, `gradients` of them;
    // of meta tensors none has values.
    std::function<Tensors(at::ScalarType type, at::Device device, int64_t rows, int64_t width)> operands;
    int gradients;
    std::function<Tensors(trainer::Kernels kernels, const Tensors& operands)> apply;
    // Elements of the operand type that must be read or written at the least, per element of the first operand.
    double least_forward, least_backward;
    const PlainForm* planned; // null: the planner does not tell its forms apart
};
const std::vector<FusedOperation>& fused_operations();
inline void PrintTo(const FusedOperation& operation, std::ostream* out)
{
    *out << operation.name;
}

} // namespace fourfold::testing
