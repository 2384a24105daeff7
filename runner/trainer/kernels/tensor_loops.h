// SPDX-License-Identifier: GPL-3.0-or-later
// The loops of kernels/cpu_loops.h on tensors, for operations that are made of them.
#pragma once

#include "runner/trainer/device/kind.h"
#include "runner/trainer/kernels/cpu_loops.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/clamp_max.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid.h>

#include <algorithm>
#include <cmath>

namespace fourfold::trainer {

inline bool has_loops(const at::Tensor& x)
{
    return on_cpu(x) && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

// Calls `use` with a null pointer of the tensor's element type. `passes`: how often the kernel reads or writes as much
// as x.
template <typename Use>
void by_type(const at::Tensor& x, int passes, Use&& use)
{
    if (x.is_meta()) { // no values
        launched(double(passes) * double(x.nbytes()));
        return;
    }
    if (x.scalar_type() == at::kDouble)
        use(static_cast<double*>(nullptr));
    else
        use(static_cast<float*>(nullptr));
}
template <typename T>
T* data(const at::Tensor& x, T*)
{
    return x.data_ptr<T>();
}
template <typename T>
GateForm<T> gate_form(const GateForm<double>& form, T*)
{
    return {T(form.steepness), T(form.limit), T(form.shift)};
}

// The sigmoid of a gated activation is made piece by piece, within the processor's cache.
constexpr int64_t kGatePiece = int64_t(1) << 14; // elements
// For so many numbers of each element of a piece; made without values, too, so that a rehearsal counts it.
inline at::Tensor room_of_pieces(const at::Tensor& gate, int64_t numbers)
{
    return at::empty({numbers, std::min(kGatePiece, gate.numel())}, gate.options());
}
// use(first element, elements, their sigmoids, in the first row of `room`).
template <typename Use>
void each_piece(const GateForm<double>& form, const at::Tensor& gate, const at::Tensor& room, Use&& use)
{
    const at::Tensor flat = gate.view({-1});
    for (int64_t first = 0; first < flat.numel(); first += kGatePiece) {
        const int64_t count = std::min(kGatePiece, flat.numel() - first);
        at::Tensor sigmoid = room.select(0, 0).narrow(0, 0, count);
        const at::Tensor piece = flat.narrow(0, first, count);
        if (std::isfinite(form.limit))
            at::sigmoid_out(sigmoid, at::clamp_max_out(sigmoid, piece, form.limit).mul_(form.steepness));
        else
            at::sigmoid_out(sigmoid, piece);
        use(first, count, sigmoid);
    }
}
inline void write_gated(const GateForm<double>& form, const at::Tensor& gate, const at::Tensor& up, const at::Tensor& y)
{
    const at::Tensor room = room_of_pieces(gate, 1);
    by_type(gate, 3, [&](auto* t) {
        each_piece(form, gate, room, [&](int64_t first, int64_t count, const at::Tensor& sigmoid) {
            gated(gate_form(form, t), data(gate, t) + first, data(sigmoid, t), data(up, t) + first, count,
                data(y, t) + first);
        });
    });
}

} // namespace fourfold::trainer
