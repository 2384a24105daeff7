// SPDX-License-Identifier: GPL-3.0-or-later
// Which tokens a sample holds. A sample is a pure function of (seed, step, its index in the global batch), so that
// every mesh trains on the same global batch and the state of the data is one integer, the step.
#pragma once

#include "core/base/expected.h"
#include "core/plan/run_settings.h"
#include "runner/trainer/data/token_file.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fourfold::trainer {

class Sampler {
public:
    // Opens the sources. Each must hold at least seq_len + 1 tokens; `field` names the plan's list ("run.data").
    // `vocab` bounds the token ids.
    static Expected<Sampler> open(const std::vector<DataSource>& sources, const std::string& field, uint64_t seed,
        int64_t seq_len, int64_t vocab);

    // Training: a window of seq_len + 1 tokens at a random place of a source, sources drawn by weight.
    Expected<void> sample(int64_t step, int64_t index, int64_t* tokens) const;
    // Evaluation: windows that follow each other without overlap, from the first on; `index` counts over the whole
    // evaluation and starts again at the front after the last window.
    Expected<void> window(int64_t index, int64_t* tokens) const;

    [[nodiscard]] int64_t seq_len() const { return seq_len_; }
    [[nodiscard]] int64_t windows() const; // distinct windows over all sources
    [[nodiscard]] const std::vector<std::shared_ptr<const TokenFile>>& files() const { return files_; }
    [[nodiscard]] const std::vector<double>& weights() const { return weights_; }

private:
    Expected<void> copy(const TokenFile& file, int64_t begin, int64_t* tokens) const;

    std::vector<std::shared_ptr<const TokenFile>> files_;
    std::vector<double> weights_; // add up to 1
    uint64_t stream_ = 0;
    int64_t seq_len_ = 0, vocab_ = 0;
};

} // namespace fourfold::trainer
