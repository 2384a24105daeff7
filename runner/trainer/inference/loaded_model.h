// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint to be looked at: the whole model on one rank, in fp32, without what only training needs.
#pragma once

#include "core/plan/plan.h"
#include "runner/trainer/inference/text_reader.h"

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
    // Natural logarithms of the probabilities of what follows each token: [tokens, vocab], fp32 on the CPU.
    // Preconditions: there are tokens, no more than max_positions, all of the vocabulary. No padding: a sequence is
    // computed at its own length. Fails where they are no numbers: the weights are not finite.
    [[nodiscard]] Expected<at::Tensor> log_probabilities(const std::vector<int64_t>& tokens) const;

    // A text of its own, which the model must outlive, and what follows the last of the tokens that it reads: [vocab],
    // as above.
    [[nodiscard]] std::unique_ptr<TextReader> begin_text() const;
    [[nodiscard]] Expected<at::Tensor> log_probabilities(TextReader& text, const std::vector<int64_t>& tokens) const;

private:
    struct State;
    [[nodiscard]] Expected<at::Tensor> log_softmax(const at::Tensor& logits) const;
    explicit LoadedModel(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
