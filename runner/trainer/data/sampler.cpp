// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/sampler.h"

#include "runner/trainer/data/counter_random.h"
#include "runner/trainer/data/shuffle.h"

#include <algorithm>
#include <cmath>

namespace fourfold::trainer {

namespace {
std::string field_of(const SampleAsker& asker, std::size_t source)
{
    return asker.one_file ? asker.field : asker.field + "[" + std::to_string(source) + "]";
}
} // namespace

Expected<Sampler> Sampler::open(const std::vector<DataSource>& sources, const SampleAsker& asker, uint64_t seed,
    int64_t seq_len, int64_t vocab, const SampleRules& rules)
{
    Sampler sampler;
    sampler.stream_ = stream_of(seed, "samples");
    sampler.seq_len_ = seq_len;
    sampler.vocab_ = vocab;
    sampler.rules_ = rules;
    if (sources.empty())
        return Problem{
            ProblemCode::bad_input, "there is nothing to train on", "name at least one token file", asker.field};
    double total = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const std::string where = field_of(asker, i);
        FOURFOLD_TRY(auto file, TokenFile::open(sources[i], where));
        if (file->size() < seq_len + 1)
            return Problem{ProblemCode::bad_input,
                "holds " + std::to_string(file->size()) + " tokens in its range, a sequence needs "
                    + std::to_string(seq_len + 1),
                "give a longer file or a smaller " + asker.length, where + " " + file->path()};
        if (!(sources[i].weight > 0) || !std::isfinite(sources[i].weight))
            return Problem{ProblemCode::bad_input, "the weight must be a positive number", "", where + ".weight"};
        if (rules.documents.mask && !rules.documents.end && !file->has_index())
            return Problem{ProblemCode::bad_input,
                "nothing says where its documents end: there is no "
                    + TokenIndex::beside(sources[i].path).filename().string() + " beside it",
                "set run.documents.end to the id of the last token of each document", where + " " + file->path()};
        total += sources[i].weight;
        sampler.weights_.push_back(sources[i].weight);
        sampler.files_.push_back(std::move(file));
    }
    for (double& weight : sampler.weights_)
        weight /= total;
    if (rules.order == DataOrder::epochs) {
        sampler.blend_ = std::make_shared<const Blend>(sampler.weights_);
        for (std::size_t i = 0; i < sources.size(); ++i)
            if (sampler.blend_->shares()[i] == 0)
                return Problem{ProblemCode::bad_input,
                    "the weight is less than one in " + std::to_string(sampler.blend_->period()) + " samples",
                    "leave the file out or give it more", field_of(asker, i) + ".weight"};
    }
    return sampler;
}

Sampler::Place Sampler::drawn(int64_t step, int64_t index) const
{
    const uint64_t stream = combine(combine(stream_, uint64_t(step)), uint64_t(index));
    double draw = random_unit(stream, 0);
    std::size_t source = 0;
    while (source + 1 < files_.size() && draw >= weights_[source])
        draw -= weights_[source++];
    const auto places = static_cast<double>(files_[source]->size() - seq_len_);
    return {source, static_cast<int64_t>(random_unit(stream, 1) * places)};
}

Sampler::Place Sampler::dealt(int64_t number) const
{
    const Blend::Draw draw = blend_->at(number);
    const auto source = std::size_t(draw.source);
    const int64_t windows = windows_of(source), epoch = draw.before / windows;
    const uint64_t key = combine(combine(stream_, uint64_t(source)), uint64_t(epoch));
    return {source, shuffled(draw.before % windows, windows, key) * seq_len_};
}

Expected<void> Sampler::sample(int64_t number, int64_t batch, Sequence out) const
{
    return copy(blend_ ? dealt(number) : drawn(number / batch, number % batch), out);
}

int64_t Sampler::windows() const
{
    int64_t count = 0;
    for (std::size_t source = 0; source < files_.size(); ++source)
        count += windows_of(source);
    return count;
}

Expected<void> Sampler::window(int64_t index, Sequence out) const
{
    index %= windows();
    for (std::size_t source = 0; source < files_.size(); ++source) {
        if (index < windows_of(source))
            return copy({source, index * seq_len_}, out);
        index -= windows_of(source);
    }
    return Problem{ProblemCode::failed, "evaluation window past the end of the data", "", ""};
}

Expected<std::vector<int64_t>> Sampler::begins(Place place, const std::vector<int64_t>& tokens) const
{
    if (!rules_.documents.end) {
        FOURFOLD_TRY(auto found, files_[place.source]->document_begins(place.begin, place.begin + seq_len_));
        for (int64_t& begin : found)
            begin -= place.begin;
        return found;
    }
    std::vector<int64_t> found;
    for (int64_t i = 0; i < seq_len_; ++i)
        if (tokens[std::size_t(i)] == *rules_.documents.end)
            found.push_back(i + 1);
    return found;
}

Expected<void> Sampler::copy(Place place, Sequence out) const
{
    const TokenFile& file = *files_[place.source];
    std::vector<int64_t> tokens(std::size_t(seq_len_ + 1));
    FOURFOLD_CHECK(file.read(place.begin, seq_len_ + 1, tokens.data()));
    for (int64_t i = 0; i <= seq_len_; ++i) {
        const int64_t token = tokens[std::size_t(i)];
        if (i < seq_len_)
            out.tokens[i] = token;
        if (i > 0)
            out.labels[i - 1] = token == rules_.padding ? kNoLabel : token;
        if (token < 0 || token >= vocab_)
            return Problem{ProblemCode::bad_input,
                "token " + std::to_string(token) + " at position " + std::to_string(place.begin + i)
                    + " is outside the model's vocabulary of " + std::to_string(vocab_),
                "check the file's dtype and tokenizer", file.path()};
    }
    if (out.starts != nullptr)
        std::fill_n(out.starts, seq_len_, 0);
    if (!rules_.documents.mask)
        return {};
    FOURFOLD_TRY(const auto found, begins(place, tokens));
    for (const int64_t begin : found) {
        out.labels[begin - 1] = kNoLabel;
        if (out.starts != nullptr)
            std::fill(out.starts + begin, out.starts + seq_len_, begin);
    }
    return {};
}

} // namespace fourfold::trainer
