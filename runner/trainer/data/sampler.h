// SPDX-License-Identifier: GPL-3.0-or-later
// Which tokens a sample holds. A sample is a pure function of (seed, step, its index in the global batch), so that
// every mesh trains on the same global batch and the state of the data is one integer, the step.
#pragma once

#include "core/base/expected.h"
#include "core/layout/run_settings.h"
#include "runner/trainer/data/token_file.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fourfold::trainer {

class Sampler {
public:
    // Opens the sources. Each must hold at least seq_len + 1 tokens; `field` names the plan's list ("run.data").
    // `vocab` bounds the token ids. `padding`: the token that fills up sequences; -1: none.
    static Expected<Sampler> open(const std::vector<DataSource>& sources, const std::string& field, uint64_t seed,
        int64_t seq_len, int64_t vocab, int64_t padding = -1);

    // seq_len tokens, and for each what follows it in the text: its label, kNoLabel where that is padding.
    struct Sequence {
        int64_t* tokens = nullptr;
        int64_t* labels = nullptr;
    };
    static constexpr int64_t kNoLabel = -100; // as PyTorch's ignore_index

    // Training: a window of seq_len + 1 tokens at a random place of a source, sources drawn by weight.
    Expected<void> sample(int64_t step, int64_t index, Sequence out) const;
    // Evaluation: windows that follow each other without overlap, from the first on; `index` counts over the whole
    // evaluation and starts again at the front after the last window.
    Expected<void> window(int64_t index, Sequence out) const;

    [[nodiscard]] int64_t seq_len() const { return seq_len_; }
    [[nodiscard]] int64_t windows() const; // distinct windows over all sources
    [[nodiscard]] const std::vector<std::shared_ptr<const TokenFile>>& files() const { return files_; }
    [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
    [[nodiscard]] int64_t padding() const { return padding_; } // -1: none

private:
    Expected<void> copy(std::size_t source, int64_t begin, Sequence out) const;

    std::vector<std::shared_ptr<const TokenFile>> files_;
    std::vector<double> weights_; // add up to 1
    uint64_t stream_ = 0;
    int64_t seq_len_ = 0, vocab_ = 0, padding_ = -1;
};

} // namespace fourfold::trainer
