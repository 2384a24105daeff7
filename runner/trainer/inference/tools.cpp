// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/tools.h"

#include "core/base/text.h"
#include "runner/trainer/checkpoint/export.h"
#include "runner/trainer/inference/generate.h"
#include "runner/trainer/inference/one_rank_plan.h"
#include "runner/trainer/inference/score.h"
#include "runner/trainer/start_up.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <map>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;
const std::map<std::string, std::vector<std::string>> kTools{{"--export", {"--output", "--tokenizer", "--dtype"}},
    {"--score", {"--model", "--tokenizer", "--seq-len"}},
    {"--generate", {"--model", "--tokenizer", "--tokens", "--temperature", "--top-k", "--top-p", "--seed"}}};

class Options {
public:
    static Expected<Options> read(const std::vector<std::string>& arguments)
    {
        const auto& known = kTools.at(arguments[0]);
        Options options;
        for (std::size_t i = 0; i < arguments.size(); i += 2) {
            const std::string& name = arguments[i];
            if (i > 0 && std::ranges::find(known, name) == known.end())
                return Problem{ProblemCode::bad_input, "unknown argument " + in_quotes(name),
                    arguments[0] + " takes " + list_of(known), "fourfold-trainer"};
            if (i + 1 == arguments.size())
                return Problem{ProblemCode::bad_input, "no value after " + name, "", "fourfold-trainer"};
            // As a script's "$NAME" is that was never set.
            if (arguments[i + 1].empty() && name != "--generate")
                return Problem{ProblemCode::bad_input, "found nothing, expected a name or a value",
                    i > 0 ? "leave it out, or give it one" : "", name};
            if (!options.values_.emplace(name, arguments[i + 1]).second)
                return Problem{ProblemCode::bad_input, name + " is given twice", "", "fourfold-trainer"};
        }
        return options;
    }
    // Refuses the first of these options that is given.
    [[nodiscard]] Expected<void> without(
        const std::vector<std::string>& names, const std::string& why, const std::string& cure) const
    {
        for (const std::string& name : names)
            if (values_.contains(name))
                return Problem{ProblemCode::bad_input, why, cure, name};
        return {};
    }
    [[nodiscard]] std::string text(const std::string& name, const std::string& fallback = "") const
    {
        const auto found = values_.find(name);
        return found == values_.end() ? fallback : found->second;
    }
    [[nodiscard]] Expected<std::string> needed(const std::string& name) const
    {
        if (!text(name).empty())
            return text(name);
        return Problem{ProblemCode::bad_input, name + " is missing", "", "fourfold-trainer"};
    }
    template <typename Number>
    [[nodiscard]] Expected<Number> number(const std::string& name, Number fallback, Number least, Number most) const
    {
        const auto found = values_.find(name);
        if (found == values_.end())
            return fallback;
        Number value = 0;
        const char* const last = found->second.data() + found->second.size();
        const auto [end, error] = std::from_chars(found->second.data(), last, value);
        if (error == std::errc() && end == last && value >= least && value <= most)
            return value;
        return Problem{ProblemCode::bad_input,
            "expected a number from " + Json(least).dump() + " to " + Json(most).dump() + ", found "
                + in_quotes(found->second),
            "", name};
    }

private:
    static std::string list_of(const std::vector<std::string>& names)
    {
        std::string list;
        for (const std::string& name : names)
            list += (list.empty() ? "" : ", ") + name;
        return list;
    }
    std::map<std::string, std::string> values_;
};

// "--output=FOLDER" is "--output FOLDER".
std::vector<std::string> with_values_apart(const std::vector<std::string>& given)
{
    std::vector<std::string> arguments;
    for (const std::string& argument : given) {
        const std::size_t sign = argument.find('=');
        if (arguments.size() % 2 == 0 && argument.starts_with("--") && sign != std::string::npos) {
            arguments.push_back(argument.substr(0, sign));
            arguments.push_back(argument.substr(sign + 1));
        } else
            arguments.push_back(argument);
    }
    return arguments;
}

// Where the tool is named, whatever stands before it: options and their values alternate.
constexpr std::size_t kNowhere = std::string::npos;
std::size_t tool_at(const std::vector<std::string>& arguments)
{
    for (std::size_t i = 0; i < arguments.size(); i += 2)
        if (kTools.contains(arguments[i]))
            return i;
    return kNowhere;
}

void print(const Json& line)
{
    std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

Expected<void> run_export(const Options& options)
{
    ExportRequest request;
    request.checkpoint = options.text("--export");
    FOURFOLD_TRY(request.output, options.needed("--output"));
    request.tokenizer = options.text("--tokenizer");
    const std::string dtype = options.text("--dtype", "fp32");
    if (dtype != "fp32" && dtype != "bf16")
        return Problem{ProblemCode::bad_input, "expected fp32 or bf16, found " + in_quotes(dtype), "", "--dtype"};
    request.dtype = dtype == "bf16" ? "BF16" : "F32";
    FOURFOLD_TRY(const Exported exported, export_model(request));
    for (const std::string& note : exported.notes)
        std::fprintf(stderr, "%s\n", note.c_str());
    print({{"folder", request.output.string()}, {"files", exported.files}, {"parameters", exported.parameters},
        {"bytes", exported.bytes}});
    return {};
}

struct Opened {
    std::unique_ptr<LoadedModel> model;
    Texts texts;
};
Expected<Opened> open_model(const Options& options)
{
    FOURFOLD_TRY(const fs::path checkpoint, options.needed("--model"));
    Opened opened;
    FOURFOLD_TRY(opened.model, LoadedModel::open(checkpoint));
    FOURFOLD_TRY(opened.texts,
        Texts::open(options.text("--tokenizer"), checkpoint_folder(checkpoint), opened.model->shape().vocab));
    return opened;
}

Expected<void> run_score(const Options& options)
{
    constexpr int64_t kMostPositions = int64_t(1) << 24, kUsualWindow = 2048;
    FOURFOLD_TRY(const Opened opened, open_model(options));
    const LoadedModel& model = *opened.model;
    const fs::path file = options.text("--score");
    const std::string ending = lower_case(file.extension().string());
    if (ending == ".jsonl" || ending == ".json") {
        FOURFOLD_CHECK(options.without(
            {"--seq-len"}, "is of windows of a token file, and lines of JSON have their own lengths", "leave it out"));
        FOURFOLD_TRY(const Json total, score_lines(model, opened.texts, file, print));
        print(total);
        return {};
    }
    FOURFOLD_TRY(const int64_t seq_len,
        options.number<int64_t>("--seq-len", std::min(kUsualWindow, model.shape().max_positions), 1, kMostPositions));
    FOURFOLD_TRY(const Json total, score_tokens(model, file, seq_len, [](int64_t done, int64_t windows) {
        if (done % 100 == 0 || done == windows)
            std::fprintf(
                stderr, "%lld of %lld windows\n", static_cast<long long>(done), static_cast<long long>(windows));
    }));
    print(total);
    return {};
}

Expected<std::vector<int64_t>> prompt_ids(const std::string& prompt, const Texts& texts, const ModelShape& model)
{
    std::vector<int64_t> ids;
    if (texts.known()) {
        FOURFOLD_TRY(ids, texts.ids(prompt, "--generate"));
    } else {
        const auto json = parse_json(prompt, "--generate");
        if (!json || !json->is_array())
            return Problem{ProblemCode::bad_input, "a text needs a tokenizer",
                "give --tokenizer tokenizer.json, or token ids: '[1, 2]'", "--generate"};
        for (const Json& id : *json) {
            if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= std::uint64_t(model.vocab))
                return Problem{ProblemCode::bad_input,
                    "expected token ids from 0 to " + std::to_string(model.vocab - 1) + ", found "
                        + printable(id.dump()),
                    "", "--generate"};
            ids.push_back(id.get<int64_t>());
        }
    }
    if (ids.empty())
        return Problem{ProblemCode::bad_input, "the prompt has no token", "write a word to go on from", "--generate"};
    if (int64_t(ids.size()) > model.max_positions)
        return Problem{ProblemCode::bad_input,
            "the prompt has " + std::to_string(ids.size()) + " tokens, the model " + std::to_string(model.max_positions)
                + " positions",
            "write a shorter one", "--generate"};
    return ids;
}

// Shows the text as it grows; what may still change (a character that is not whole) waits.
Expected<void> run_generate(const Options& options)
{
    Sampling sampling;
    FOURFOLD_TRY(const int64_t count, options.number<int64_t>("--tokens", 100, 1, 1'000'000));
    FOURFOLD_TRY(sampling.temperature, options.number<double>("--temperature", 0, 0, 100));
    FOURFOLD_TRY(sampling.top_k, options.number<int64_t>("--top-k", 0, 0, int64_t(1) << 32));
    FOURFOLD_TRY(sampling.top_p, options.number<double>("--top-p", 1, 0, 1));
    FOURFOLD_TRY(
        sampling.seed, options.number<uint64_t>("--seed", sampling.seed, 0, std::numeric_limits<uint64_t>::max()));
    if (sampling.temperature == 0)
        FOURFOLD_CHECK(options.without({"--top-k", "--top-p", "--seed"},
            "has no effect at --temperature 0, which takes the likeliest token", "add --temperature 1"));
    FOURFOLD_TRY(const Opened opened, open_model(options));
    const std::string prompt = options.text("--generate");
    FOURFOLD_TRY(std::vector<int64_t> ids, prompt_ids(prompt, opened.texts, opened.model->shape()));
    std::string shown;
    const auto show = [&](const std::string& text, bool whole) {
        if (!text.starts_with(shown) || (!whole && text.ends_with("\xEF\xBF\xBD")))
            return;
        std::fputs(printable_lines(text.substr(shown.size())).c_str(), stdout);
        std::fflush(stdout);
        shown = text;
    };
    show(opened.texts.text(ids), true);
    std::vector<int64_t> all = ids;
    const auto made = generate(*opened.model, std::move(ids), count, opened.texts.end(), sampling, [&](int64_t token) {
        all.push_back(token);
        show(opened.texts.text(all), false);
    });
    if (!made)
        return made.error();
    show(opened.texts.text(all), true);
    std::fputs("\n", stdout);
    return {};
}
} // namespace

bool is_tool(const std::vector<std::string>& arguments)
{
    return tool_at(with_values_apart(arguments)) != kNowhere;
}

int run_tool(const std::vector<std::string>& given)
{
    std::vector<std::string> arguments = with_values_apart(given);
    const auto tool = std::ptrdiff_t(tool_at(arguments)); // with its value to the front
    std::rotate(arguments.begin(), arguments.begin() + tool,
        arguments.begin() + std::min(tool + 2, std::ptrdiff_t(arguments.size())));
    const auto told = [](const Problem& problem) {
        std::fprintf(stderr, "%s\n", problem.line().c_str());
        return problem.exit_status();
    };
    try {
        if (const auto usable = check_libtorch(); !usable)
            return told(usable.error());
        const auto options = Options::read(arguments);
        if (!options)
            return told(options.error());
        const auto done = arguments[0] == "--export" ? run_export(*options)
            : arguments[0] == "--score"              ? run_score(*options)
                                                     : run_generate(*options);
        return done ? 0 : told(done.error());
    } catch (const std::exception& error) { // LibTorch's
        return told({ProblemCode::failed, error.what(), "", arguments[0]});
    }
}

} // namespace fourfold::trainer
