// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/unigram.h"

#include <algorithm>
#include <cmath>

namespace fourfold::trainer {

namespace {
constexpr int64_t kMostTokens = 1 << 24, kPiece = 1 << 16; // tokens of a file, tokens read at once

// Weighted share of each token over the sampler's sources.
Expected<std::vector<double>> shares(const Sampler& sampler, int64_t vocab, double add)
{
    std::vector<double> mean(static_cast<std::size_t>(vocab), 0.0);
    for (std::size_t s = 0; s < sampler.files().size(); ++s) {
        const TokenFile& file = *sampler.files()[s];
        const int64_t count = std::min(file.size(), kMostTokens);
        std::vector<double> counts(static_cast<std::size_t>(vocab), add);
        double total = add * double(vocab);
        std::vector<int64_t> tokens;
        for (int64_t first = 0; first < count; first += kPiece) {
            tokens.resize(std::size_t(std::min(kPiece, count - first)));
            FOURFOLD_CHECK(file.read(first, int64_t(tokens.size()), tokens.data()));
            for (const int64_t token : tokens)
                // What is no id of the vocabulary is refused where a sample has it (a file of signed numbers may hold
                // -1).
                if (token >= 0 && token < vocab && token != sampler.padding()) {
                    counts[static_cast<std::size_t>(token)] += 1;
                    total += 1;
                }
        }
        for (std::size_t t = 0; t < counts.size(); ++t)
            mean[t] += sampler.weights()[s] * counts[t] / std::max(total, 1.0);
    }
    return mean;
}
} // namespace

Expected<double> unigram_entropy(const Sampler& training, const Sampler& held_out, int64_t vocab)
{
    FOURFOLD_TRY(const auto model, shares(training, vocab, 1));
    FOURFOLD_TRY(const auto data, shares(held_out, vocab, 0));
    double nats = 0;
    for (std::size_t t = 0; t < data.size(); ++t)
        if (data[t] > 0)
            nats -= data[t] * std::log(model[t]);
    return nats;
}

} // namespace fourfold::trainer
