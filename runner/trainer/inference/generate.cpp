// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/generate.h"

#include <algorithm>

namespace fourfold::trainer {

Expected<std::vector<int64_t>> generate(const LoadedModel& model, std::vector<int64_t> prompt, int64_t count,
    std::optional<int64_t> end, const Sampling& sampling, const std::function<void(int64_t)>& each)
{
    const auto most = static_cast<std::size_t>(
        std::max<int64_t>(0, std::min(count, model.shape().max_positions + 1 - static_cast<int64_t>(prompt.size()))));
    const auto text = model.begin_text();
    std::vector<int64_t> made, fresh = std::move(prompt);
    while (made.size() < most) {
        FOURFOLD_TRY(const at::Tensor last, model.log_probabilities(*text, fresh));
        const int64_t token
            = draw_token({last.const_data_ptr<float>(), std::size_t(last.numel())}, sampling, int64_t(made.size()));
        made.push_back(token);
        fresh = {token};
        each(token);
        if (token == end)
            break;
    }
    return made;
}

} // namespace fourfold::trainer
