// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/generate.h"

namespace fourfold::trainer {

Expected<std::vector<int64_t>> generate(const LoadedModel& model, std::vector<int64_t> prompt, int64_t count,
    std::optional<int64_t> end, const Sampling& sampling, const std::function<void(int64_t)>& each)
{
    std::vector<int64_t> made;
    while (int64_t(made.size()) < count && int64_t(prompt.size()) <= model.shape().max_positions) {
        FOURFOLD_TRY(const at::Tensor last, model.log_probabilities(prompt, true));
        const int64_t token
            = draw_token({last.const_data_ptr<float>(), std::size_t(last.numel())}, sampling, int64_t(made.size()));
        made.push_back(token);
        prompt.push_back(token);
        each(token);
        if (token == end)
            break;
    }
    return made;
}

} // namespace fourfold::trainer
