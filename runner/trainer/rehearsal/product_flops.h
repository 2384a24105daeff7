// SPDX-License-Identifier: GPL-3.0-or-later
// Floating-point operations of the matrix products and of the attention that LibTorch is asked for, by their shapes.
#pragma once

#include <cstdint>

namespace fourfold::trainer {

// Counts while it lives; one at a time. A product of [m, k] and [k, n] is 2 m n k. Causal attention counts the lower
// half; its backward pass is five products where the forward pass is two (Dao 2022, arXiv:2205.14135, section 3).
class ProductFlops {
public:
    ProductFlops();
    ~ProductFlops();
    ProductFlops(const ProductFlops&) = delete;
    ProductFlops& operator=(const ProductFlops&) = delete;

    [[nodiscard]] double total() const;

private:
    uint64_t handle_;
};

} // namespace fourfold::trainer
