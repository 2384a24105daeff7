// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold pack`: text and JSONL to the token files that training reads.
#include "app/cli/command.h"
#include "app/cli/runs/stop_signals.h"
#include "app/cli/text/progress_line.h"
#include "core/base/seconds.h"
#include "core/base/text.h"
#include "core/pack/pack.h"
#include "core/report/table/table.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>

namespace fourfold::cli {

namespace {

struct PackCommandOptions {
    PackRequest request;
    std::string tokenizer, output, end_token;
    CLI::Option *end_option = nullptr, *key_option = nullptr, *unit_option = nullptr;
    bool json = false;
};

Json pack_json(const PackResult& result, double seconds)
{
    return {{"tokens_file", result.tokens_file.string()}, {"index_file", result.index_file.string()},
        {"documents", result.documents}, {"left_out", result.left_out}, {"tokens", result.tokens},
        {"bytes", result.bytes}, {"resumed_bytes", result.resumed_bytes}, {"vocabulary", result.vocabulary},
        {"dtype", result.token_bytes == 2 ? "uint16" : "uint32"}, {"seconds", seconds}, {"warnings", result.warnings}};
}

std::string pack_text(const PackResult& result, double seconds)
{
    constexpr double kMega = 1e6;
    std::string text = printable(result.tokens_file.string(), kUncut) + ": " + shown_number(double(result.tokens), 0)
        + (result.tokens == 1 ? " token of " : " tokens of ") + std::to_string(result.token_bytes) + " bytes, "
        + shown_number(double(result.documents), 0) + (result.documents == 1 ? " document, " : " documents, ")
        + shown_number(double(result.bytes) / kMega, 1) + " MB of text";
    if (result.resumed_bytes == 0)
        text += ", " + shown_number(double(result.bytes) / kMega / std::max(seconds, 1e-3), 1) + " MB/s";
    if (result.left_out > 0)
        text += "; " + shown_number(double(result.left_out), 0) + " left out (empty, or not UTF-8)";
    return text + "\n" + printable(result.index_file.string(), kUncut)
        + ": where each document lies, as Megatron's indexed dataset\n"
        + "A model that trains on it needs a vocabulary of at least " + shown_number(double(result.vocabulary), 0)
        + ".\n";
}

// What is said of lines needs files of lines, and what is said of texts needs texts.
Expected<void> check_that_all_count(const PackCommandOptions& options)
{
    if (options.key_option->count() + options.unit_option->count() == 0)
        return {};
    FOURFOLD_TRY(const InputFiles inputs, list_inputs(options.request.inputs));
    const auto of_lines = std::ranges::count_if(inputs.files, &InputFileState::is_jsonl);
    if (options.key_option->count() > 0 && of_lines == 0)
        return Problem{ProblemCode::bad_input, "no file is JSONL (.jsonl, .json), so no line has a key",
            "leave it out, or give the file that ending", "--key"};
    if (options.unit_option->count() > 0 && of_lines == std::ssize(inputs.files))
        return Problem{ProblemCode::bad_input, "all files are JSONL, of which each line is a document", "leave it out",
            "--documents"};
    return {};
}

Expected<int> run_pack(const PackCommandOptions& options)
{
    FOURFOLD_CHECK(check_that_all_count(options));
    PackRequest request = options.request;
    request.tokenizer = options.tokenizer;
    request.output = options.output;
    if (options.end_option->count() > 0)
        request.end_token = options.end_token;
    const auto start = std::chrono::steady_clock::now();
    FOURFOLD_TRY(const PackResult result, [&] {
        const StopSignals signals("stopping; what is packed stays");
        ProgressLine line;
        return pack(
            request,
            [&](const PackProgress& progress) {
                constexpr double kMega = 1e6;
                line.show(progress.bytes > 0 ? double(progress.bytes_done) / double(progress.bytes) : 1,
                    shown_number(double(progress.tokens) / kMega, 1) + " million tokens");
            },
            signals.token());
    }());
    const double seconds = seconds_since(start);
    for (const std::string& warning : result.warnings)
        warn(warning);
    if (options.json)
        print_json(pack_json(result, seconds));
    else
        std::cout << pack_text(result, seconds);
    return kDone;
}

} // namespace

void add_pack(Cli& cli)
{
    auto* command = cli.app.add_subcommand("pack", "Turn text and JSONL into the token files that training reads");
    command->footer(
        "Tokens are those of Hugging Face's own library for the same tokenizer.json. OUTPUT.bin holds nothing\n"
        "but token ids (`run.data` of a plan), OUTPUT.idx says where each document lies, as Megatron's indexed\n"
        "dataset does. Stopped or cut, the same command goes on where it was.");
    const auto options = std::make_shared<PackCommandOptions>();
    PackRequest& request = options->request;
    command->add_option("files", request.inputs, "text and JSONL files, or folders of them")
        ->required()
        ->type_name("FILES");
    command->add_option("--tokenizer", options->tokenizer, "a Hugging Face tokenizer.json")
        ->required()
        ->type_name("FILE");
    command->add_option("--output", options->output, "writes OUTPUT.bin and OUTPUT.idx")
        ->required()
        ->type_name("OUTPUT");
    options->key_option
        = command->add_option("--key", request.documents.key, "the text of a line of JSONL (default: text)")
              ->type_name("KEY");
    const std::map<std::string, DocumentUnit> units{
        {"file", DocumentUnit::file}, {"paragraph", DocumentUnit::paragraph}, {"line", DocumentUnit::line}};
    options->unit_option = command
                               ->add_option("--documents", request.documents.unit,
                                   "what one document of a text file is: file (default), paragraph or line")
                               ->transform(CLI::CheckedTransformer(units).description(""))
                               ->type_name("UNIT");
    const std::map<std::string, IllFormed> ill_formed{
        {"refuse", IllFormed::refuse}, {"replace", IllFormed::replace}, {"skip", IllFormed::skip}};
    command
        ->add_option("--invalid", request.documents.ill_formed,
            "what becomes of a document that is not UTF-8: refuse (default), replace or skip")
        ->transform(CLI::CheckedTransformer(ill_formed).description(""))
        ->type_name("WHAT");
    options->end_option = command
                              ->add_option("--eos", options->end_token,
                                  "the token behind each document, '' for none (default: what the tokenizer's files "
                                  "call the end of a text)")
                              ->type_name("TOKEN");
    command->add_flag("--template", request.apply_template,
        "also the special tokens that the tokenizer puts around a text (its post_processor)");
    command->add_option("--threads", request.threads, "default: one per core")->check(CLI::Range(1, 1024));
    command->add_flag("--json", options->json, "print what was packed as JSON");
    command->callback([&cli, options] { cli.chosen = [options] { return run_pack(*options); }; });
}

} // namespace fourfold::cli
