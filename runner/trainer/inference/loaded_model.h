// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint to be looked at: the whole model on one rank, in fp32, without what only training needs.
#pragma once

#include "core/plan/plan.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace fourfold::trainer {

class LoadedModel {
public:
    // As checkpoint_folder() finds it. On the first GPU where this program sees one, else on the CPU.
    static Expected<std::unique_ptr<LoadedModel>> open(const std::filesystem::path& checkpoint);
    ~LoadedModel();
    LoadedModel(const LoadedModel&) = delete;
    LoadedModel& operator=(const LoadedModel&) = delete;

    [[nodiscard]] const ModelShape& shape() const;
    // Natural logarithms of the probabilities of what follows each token: [tokens, vocab], fp32 on the CPU. Of the
    // last token alone: [1, vocab]. Preconditions: there are tokens, no more than max_positions, all of the vocabulary.
    // No padding: a sequence is computed at its own length. Fails where they are no numbers: the weights are not
    // finite.
    [[nodiscard]] Expected<at::Tensor> log_probabilities(
        const std::vector<int64_t>& tokens, bool last_alone = false) const;

private:
    struct State;
    explicit LoadedModel(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
