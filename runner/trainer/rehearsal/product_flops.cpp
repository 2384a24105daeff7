// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/product_flops.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <string_view>

namespace fourfold::trainer {

namespace {
double counted = 0; // callbacks are plain functions

double of_product(const at::Tensor& a, const at::Tensor& b)
{
    return 2.0 * double(a.numel()) * double(b.size(-1));
}

// query, key at `first`; whether it is causal at `causal`.
double of_attention(c10::ArrayRef<const c10::IValue> inputs, std::size_t first, std::size_t causal)
{
    const at::Tensor& query = inputs[first].toTensor();
    const at::Tensor& key = inputs[first + 1].toTensor();
    return 4.0 * double(query.numel()) * double(key.size(2)) * (inputs[causal].toBool() ? 0.5 : 1);
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& call)
{
    const std::string_view name = call.name();
    const auto inputs = call.inputs();
    if (name == "aten::mm" || name == "aten::bmm")
        counted += of_product(inputs[0].toTensor(), inputs[1].toTensor());
    else if (name == "aten::addmm" || name == "aten::baddbmm")
        counted += of_product(inputs[1].toTensor(), inputs[2].toTensor());
    else if (name == "aten::_scaled_dot_product_flash_attention")
        counted += of_attention(inputs, 0, 4);
    else if (name == "aten::_scaled_dot_product_flash_attention_backward")
        counted += 2.5 * of_attention(inputs, 1, 11);
    return nullptr;
}
} // namespace

ProductFlops::ProductFlops()
    : handle_(
        at::addGlobalCallback(at::RecordFunctionCallback(count).needsInputs(true).scopes({at::RecordScope::FUNCTION})))
{
    counted = 0;
}

ProductFlops::~ProductFlops()
{
    at::removeCallback(handle_);
}

double ProductFlops::total() const
{
    return counted;
}

} // namespace fourfold::trainer
