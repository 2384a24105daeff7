// SPDX-License-Identifier: GPL-3.0-or-later
// Which tokens a sample holds. A sample is a pure function of the seed and its number in the run (DataOrder says how),
// so that every mesh trains on the same samples, whatever batch takes them, and the state of the data is one integer.
#pragma once

#include "core/base/expected.h"
#include "core/layout/run_settings.h"
#include "runner/trainer/data/blend.h"
#include "runner/trainer/data/token_file.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace fourfold::trainer {

struct SampleRules {
    DataOrder order = DataOrder::random;
    DocumentSettings documents = {};
    int64_t padding = -1; // the token that fills up sequences; -1: none
};

// Who asks for samples, for what is said of them.
struct SampleAsker {
    std::string field; // the plan's list of sources ("run.data")
    bool one_file = false; // an option of one of the trainer's tools, which names a file
    std::string length = "training.seq_len"; // what sets seq_len
};

class Sampler {
public:
    // Opens the sources. Each must hold at least seq_len + 1 tokens. `vocab` bounds the token ids.
    static Expected<Sampler> open(const std::vector<DataSource>& sources, const SampleAsker& asker, uint64_t seed,
        int64_t seq_len, int64_t vocab, const SampleRules& rules = {});

    // seq_len tokens, and for each
    //   label  what follows it in the text; kNoLabel where that is padding or, with a mask, of another document
    //   start  the first place in the sample of its document: 0 everywhere without a mask, and for the document that
    //   the
    //          sample begins in the middle of
    struct Sequence {
        int64_t* tokens = nullptr;
        int64_t* labels = nullptr;
        int64_t* starts = nullptr; // may be null
    };
    static constexpr int64_t kNoLabel = -100; // as PyTorch's ignore_index

    // Training: sample `number` of the run, a window of seq_len + 1 tokens. Random order draws by step and place in a
    // batch of `batch` samples.
    Expected<void> sample(int64_t number, int64_t batch, Sequence out) const;
    // Evaluation: windows that follow each other without overlap, from the first on; `index` counts over the whole
    // evaluation and starts again at the front after the last window.
    Expected<void> window(int64_t index, Sequence out) const;

    [[nodiscard]] int64_t seq_len() const { return seq_len_; }
    [[nodiscard]] int64_t windows() const; // distinct windows over all sources
    [[nodiscard]] const std::vector<std::shared_ptr<const TokenFile>>& files() const { return files_; }
    [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
    [[nodiscard]] int64_t padding() const { return rules_.padding; } // -1: none

private:
    // Where a sample begins.
    struct Place {
        std::size_t source = 0;
        int64_t begin = 0;
    };
    [[nodiscard]] Place drawn(int64_t step, int64_t index) const;
    [[nodiscard]] Place dealt(int64_t number) const;
    Expected<void> copy(Place place, Sequence out) const;
    // Places of the window's seq_len + 1 `tokens` at which another document begins.
    [[nodiscard]] Expected<std::vector<int64_t>> begins(Place place, const std::vector<int64_t>& tokens) const;
    [[nodiscard]] int64_t windows_of(std::size_t source) const { return (files_[source]->size() - 1) / seq_len_; }

    std::vector<std::shared_ptr<const TokenFile>> files_;
    std::vector<double> weights_; // add up to 1
    std::shared_ptr<const Blend> blend_; // null: random order
    SampleRules rules_;
    uint64_t stream_ = 0;
    int64_t seq_len_ = 0, vocab_ = 0;
};

} // namespace fourfold::trainer
