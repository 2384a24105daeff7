// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/score.h"

#include "core/base/input_file.h"
#include "core/base/json_fields.h"
#include "runner/trainer/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace fourfold::trainer {

namespace {
struct Item {
    std::vector<int64_t> tokens; // context and continuation
    std::size_t begin = 0; // of the continuation; at least 1
    double length = 0; // of the continuation, by which its likelihood is normalised
};

struct Likelihood {
    double log = 0;
    int64_t tokens = 0;
    bool greedy = true;
};

Expected<Likelihood> likelihood(const LoadedModel& model, const Item& item)
{
    const std::vector<int64_t> read(item.tokens.begin(), item.tokens.end() - 1);
    FOURFOLD_TRY(const at::Tensor all, model.log_probabilities(read));
    const auto* const values = all.const_data_ptr<float>();
    const int64_t vocab = all.size(1);
    Likelihood sum;
    for (std::size_t i = item.begin; i < item.tokens.size(); ++i) {
        const float* const row = values + (i - 1) * std::size_t(vocab);
        sum.log += double(row[item.tokens[i]]);
        sum.greedy = sum.greedy && std::max_element(row, row + vocab) - row == item.tokens[i];
        ++sum.tokens;
    }
    return sum;
}

// Items of a file's lines.
class Reader {
public:
    Reader(const LoadedModel& model, const Texts& texts)
        : texts_(texts)
        , vocab_(model.shape().vocab)
        , positions_(model.shape().max_positions)
    {
    }

    [[nodiscard]] Expected<Item> item(
        const Json& context, const Json& continuation, const Fields& line, const std::string& key) const
    {
        const bool text = continuation.is_string();
        if (context.is_string() != text || (!text && !(context.is_array() && continuation.is_array())))
            return line.problem(key, "expected context and continuation both as text, or both as arrays of token ids");
        if (continuation.empty() || (text && continuation.get_ref<const std::string&>().empty()))
            return line.problem(key, "an empty continuation has no likelihood");
        FOURFOLD_TRY(Item item,
            text ? of_texts(context.get<std::string>(), continuation.get<std::string>(), line, key)
                 : of_ids(context, continuation, line, key));
        if (item.begin == 0)
            return line.problem(
                "context", "is empty: there is nothing that the first token could follow", "begin with a token");
        if (int64_t(item.tokens.size()) - 1 > positions_)
            return line.problem(key,
                std::to_string(item.tokens.size()) + " tokens with the context, the model has "
                    + std::to_string(positions_) + " positions");
        return item;
    }

private:
    [[nodiscard]] Expected<Item> of_texts(
        std::string context, const std::string& continuation, const Fields& line, const std::string& key) const
    {
        const double characters = double(std::ranges::count_if(
            continuation, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
        FOURFOLD_TRY(auto whole, texts_.ids(context + continuation, line.where(key)));
        context.resize(context.find_last_not_of(" \t\n\r") + 1); // npos + 1: nothing but blanks
        FOURFOLD_TRY(const auto before, texts_.ids(context, line.where("context")));
        Item item{std::move(whole), before.size(), characters};
        if (item.begin >= item.tokens.size())
            return line.problem(key, "adds no token to the context");
        return item;
    }

    [[nodiscard]] Expected<Item> of_ids(
        const Json& context, const Json& continuation, const Fields& line, const std::string& key) const
    {
        Item item{{}, context.size(), double(continuation.size())};
        for (const Json* const part : {&context, &continuation})
            for (const Json& id : *part) {
                if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= std::uint64_t(vocab_))
                    return line.problem(part == &context ? "context" : key,
                        "expected token ids from 0 to " + std::to_string(vocab_ - 1) + ", found "
                            + printable(id.dump()));
                item.tokens.push_back(id.get<int64_t>());
            }
        return item;
    }

    const Texts& texts_;
    int64_t vocab_, positions_;
};

struct Totals {
    double log = 0;
    int64_t lines = 0, tokens = 0, greedy = 0, single = 0, choices = 0, right = 0, right_normalised = 0;

    [[nodiscard]] Json json() const
    {
        Json out{{"lines", lines}};
        if (single > 0) {
            const double nats = -log / double(tokens);
            out.update({{"log_likelihood", log}, {"tokens", tokens}, {"nats_per_token", nats},
                {"perplexity", number_or_null(std::exp(nats))}, {"greedy", double(greedy) / double(single)}});
        }
        if (choices > 0)
            out.update({{"choices", choices}, {"accuracy", double(right) / double(choices)},
                {"accuracy_normalised", double(right_normalised) / double(choices)}});
        return out;
    }
};

Expected<Json> score_choices(const LoadedModel& model, const Reader& reader, const Fields& line, Totals& totals)
{
    const Json& context = line.json()["context"];
    const Json& choices = line.json()["choices"];
    if (!choices.is_array() || choices.size() < 2)
        return line.wrong("choices", "two choices or more");
    FOURFOLD_TRY(const int answer, line.small_integer("answer", 0, int(choices.size()) - 1));
    Json logs = Json::array();
    int best = 0, best_normalised = 0;
    double most = 0, most_normalised = 0;
    for (int i = 0; i < int(choices.size()); ++i) {
        FOURFOLD_TRY(
            const Item item, reader.item(context, choices[std::size_t(i)], line, "choices[" + std::to_string(i) + "]"));
        FOURFOLD_TRY(const Likelihood found, likelihood(model, item));
        logs.push_back(found.log);
        const double normalised = found.log / item.length;
        if (i == 0 || found.log > most) {
            most = found.log;
            best = i;
        }
        if (i == 0 || normalised > most_normalised) {
            most_normalised = normalised;
            best_normalised = i;
        }
    }
    ++totals.choices;
    totals.right += best == answer;
    totals.right_normalised += best_normalised == answer;
    return Json{{"log_likelihoods", logs}, {"best", best}, {"best_normalised", best_normalised}, {"answer", answer}};
}
} // namespace

Expected<Json> score_lines(const LoadedModel& model, const Texts& texts, const std::filesystem::path& file,
    const std::function<void(const Json&)>& each)
{
    constexpr std::size_t kMostLine = std::size_t(16) << 20;
    FOURFOLD_TRY(const FileDescriptor opened, open_regular(file)); // says what it is, where it is no file
    std::ifstream in(file);
    const Reader reader(model, texts);
    Totals totals;
    std::string text;
    bool whole = true;
    for (int64_t number = 1; read_line(in, text, kMostLine, whole); ++number) {
        const std::string where = file.string() + " line " + std::to_string(number);
        if (!whole)
            return Problem{ProblemCode::bad_input, "is longer than 16 MiB", "", where};
        if (text.find_first_not_of(" \t\r") == std::string::npos)
            continue;
        FOURFOLD_TRY(const Json json, parse_json(text, where));
        FOURFOLD_TRY(const Fields line, Fields::of(json, where));
        if (!line.has("context"))
            return line.missing("context", "a text or an array of token ids");
        Json answer{{"line", number}};
        if (line.has("choices")) {
            FOURFOLD_TRY(const Json scored, score_choices(model, reader, line, totals));
            answer.update(scored);
        } else {
            if (!line.has("continuation"))
                return line.missing("continuation", "a text or an array of token ids, or \"choices\"");
            FOURFOLD_TRY(const Item item, reader.item(json["context"], json["continuation"], line, "continuation"));
            FOURFOLD_TRY(const Likelihood found, likelihood(model, item));
            ++totals.single;
            totals.log += found.log;
            totals.tokens += found.tokens;
            totals.greedy += found.greedy;
            answer.update({{"log_likelihood", found.log}, {"tokens", found.tokens}, {"greedy", found.greedy}});
        }
        ++totals.lines;
        each(answer);
    }
    if (totals.lines == 0)
        return Problem{ProblemCode::bad_input, "has no line to score", "", file.string()};
    return totals.json();
}

Expected<Json> score_tokens(const LoadedModel& model, const std::filesystem::path& file, int64_t seq_len,
    const std::function<void(int64_t done, int64_t windows)>& progress)
{
    if (seq_len < 1 || seq_len > model.shape().max_positions)
        return Problem{ProblemCode::bad_input,
            "expected a whole number from 1 to the model's " + std::to_string(model.shape().max_positions)
                + " positions, found " + std::to_string(seq_len),
            "", "--seq-len"};
    DataSource source;
    source.path = file.string();
    FOURFOLD_TRY(
        const Sampler data, Sampler::open({source}, {"--score", true, "--seq-len"}, 0, seq_len, model.shape().vocab));
    std::vector<int64_t> tokens(std::size_t(seq_len), 0), labels(tokens);
    double log = 0;
    for (int64_t i = 0; i < data.windows(); ++i) {
        FOURFOLD_CHECK(data.window(i, {tokens.data(), labels.data()}));
        Item item{tokens, 1, 0};
        item.tokens.push_back(labels.back());
        FOURFOLD_TRY(const Likelihood found, likelihood(model, item));
        log += found.log;
        progress(i + 1, data.windows());
    }
    const double count = double(data.windows() * seq_len), nats = -log / count;
    return Json{{"windows", data.windows()}, {"tokens", data.windows() * seq_len}, {"nats_per_token", nats},
        {"perplexity", number_or_null(std::exp(nats))}};
}

} // namespace fourfold::trainer
