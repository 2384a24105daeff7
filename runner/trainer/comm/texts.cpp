// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/texts.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cstring>

namespace fourfold::trainer {

std::vector<std::string> all_texts(const Communicator& group, const std::string& own, at::Device device)
{
    const auto lengths = at::TensorOptions().dtype(at::kLong).device(device);
    const at::Tensor all_lengths = group.all_gather(at::full({1}, int64_t(own.size()), lengths)).cpu();
    const int64_t longest = all_lengths.max().item<int64_t>();
    at::Tensor padded = at::zeros({1, longest}, at::kByte);
    if (!own.empty())
        std::memcpy(padded.data_ptr(), own.data(), own.size());
    const at::Tensor all = longest > 0 ? group.all_gather(padded.to(device)).cpu() : padded;
    std::vector<std::string> texts;
    for (int64_t rank = 0; rank < group.size(); ++rank)
        texts.emplace_back(longest > 0 ? static_cast<const char*>(all[rank].data_ptr()) : "",
            std::size_t(all_lengths[rank].item<int64_t>()));
    return texts;
}

} // namespace fourfold::trainer
