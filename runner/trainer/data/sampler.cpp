// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/sampler.h"

#include "runner/trainer/data/counter_random.h"

#include <cmath>

namespace fourfold::trainer {

Expected<Sampler> Sampler::open(const std::vector<DataSource>& sources, const std::string& field, uint64_t seed,
    int64_t seq_len, int64_t vocab, int64_t padding)
{
    Sampler sampler;
    sampler.stream_ = stream_of(seed, "samples");
    sampler.seq_len_ = seq_len;
    sampler.vocab_ = vocab;
    sampler.padding_ = padding;
    if (sources.empty())
        return Problem{ProblemCode::bad_input, "there is nothing to train on", "name at least one token file", field};
    double total = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::string where = field + "[" + std::to_string(i) + "]";
        FOURFOLD_TRY(auto file, TokenFile::open(sources[i], where));
        if (file->size() < seq_len + 1)
            return Problem{ProblemCode::bad_input,
                "holds " + std::to_string(file->size()) + " tokens in its range, a sequence needs "
                    + std::to_string(seq_len + 1),
                "give a longer file or a smaller training.seq_len", where + " " + file->path()};
        if (!(sources[i].weight > 0) || !std::isfinite(sources[i].weight))
            return Problem{ProblemCode::bad_input, "the weight must be a positive number", "", where + ".weight"};
        total += sources[i].weight;
        sampler.weights_.push_back(sources[i].weight);
        sampler.files_.push_back(std::move(file));
    }
    for (double& weight : sampler.weights_)
        weight /= total;
    return sampler;
}

Expected<void> Sampler::sample(int64_t step, int64_t index, Sequence out) const
{
    const uint64_t stream = combine(combine(stream_, uint64_t(step)), uint64_t(index));
    double draw = random_unit(stream, 0);
    std::size_t source = 0;
    while (source + 1 < files_.size() && draw >= weights_[source])
        draw -= weights_[source++];
    const auto places = static_cast<double>(files_[source]->size() - seq_len_);
    return copy(source, static_cast<int64_t>(random_unit(stream, 1) * places), out);
}

int64_t Sampler::windows() const
{
    int64_t count = 0;
    for (const auto& file : files_)
        count += (file->size() - 1) / seq_len_;
    return count;
}

Expected<void> Sampler::window(int64_t index, Sequence out) const
{
    index %= windows();
    for (std::size_t source = 0; source < files_.size(); ++source) {
        const int64_t here = (files_[source]->size() - 1) / seq_len_;
        if (index < here)
            return copy(source, index * seq_len_, out);
        index -= here;
    }
    return Problem{ProblemCode::failed, "evaluation window past the end of the data", "", ""};
}

Expected<void> Sampler::copy(std::size_t source, int64_t begin, Sequence out) const
{
    const TokenFile& file = *files_[source];
    std::vector<int64_t> tokens(std::size_t(seq_len_ + 1));
    FOURFOLD_CHECK(file.read(begin, seq_len_ + 1, tokens.data()));
    for (int64_t i = 0; i <= seq_len_; ++i) {
        const int64_t token = tokens[std::size_t(i)];
        if (i < seq_len_)
            out.tokens[i] = token;
        if (i > 0)
            out.labels[i - 1] = token == padding_ ? kNoLabel : token;
        if (token >= vocab_)
            return Problem{ProblemCode::bad_input,
                "token " + std::to_string(token) + " at position " + std::to_string(begin + i)
                    + " is outside the model's vocabulary of " + std::to_string(vocab_),
                "check the file's dtype and tokenizer", file.path()};
    }
    return {};
}

} // namespace fourfold::trainer
