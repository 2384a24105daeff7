// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold validate`: the score card of predictions over measured tables.
#include "app/cli/command.h"
#include "app/cli/output_file.h"
#include "app/cli/planning/hidden_presets.h"
#include "app/cli/text/validate_view.h"
#include "core/calibration/confidence.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct ValidateOptions {
    std::vector<std::string> files;
    FormatOptions format;
    std::string report, confidence;
    int worst = 10;
};

// The published tables where none is named; a folder stands for the tables in it.
Expected<std::vector<std::filesystem::path>> tables_of(const std::vector<std::string>& named)
{
    if (named.empty()) {
        auto found = published_tables();
        if (found.empty())
            return Problem{ProblemCode::not_found, "no published table was found",
                "name a CSV file, or the presets folder in FOURFOLD_PRESETS", "presets/published"};
        return found;
    }
    std::vector<std::filesystem::path> files;
    for (const std::string& name : named) {
        std::error_code error;
        if (!std::filesystem::is_directory(name, error)) {
            files.emplace_back(name);
            continue;
        }
        const auto inside = measured_tables_in(name);
        if (inside.empty())
            return Problem{ProblemCode::not_found, "no measured table is in this folder",
                "a measured table is a CSV file with a column metric", name};
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

// The intervals of one table alone say nothing of another source.
std::vector<Coverage> nested(const std::vector<ScoreCard>& cards, const TableSources& sources, const Presets& presets)
{
    return cards.size() < 2 ? std::vector<Coverage>() : nested_coverage(outer_errors(cards, sources, presets));
}

int write_cards(const std::vector<ScoreCard>& cards, const std::vector<Coverage>& intervals, TableFormat format)
{
    if (format == TableFormat::json) {
        Json list = Json::array();
        for (const ScoreCard& card : cards)
            list.push_back(to_json(card));
        Json outer = Json::array();
        for (const Coverage& coverage : intervals)
            outer.push_back(to_json(coverage));
        print_json({{"tables", list}, {"intervals", outer}});
    } else if (format == TableFormat::csv) {
        std::cout << figures_table(cards).write(format);
    } else {
        for (const ScoreCard& card : cards)
            std::cout << card_text(card, format);
        std::cout << intervals_text(intervals, format);
    }
    return kDone;
}

Expected<int> validate(const ValidateOptions& options)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    FOURFOLD_TRY(const auto sources, TableSources::find());
    FOURFOLD_TRY(const auto files, tables_of(options.files));
    FOURFOLD_CHECK(check_ending(options.report, "the report, which is Markdown,", {".md"}));
    if (!options.report.empty())
        FOURFOLD_CHECK(check_output(options.report, {files.begin(), files.end()}));
    const Presets presets;
    std::vector<ScoreCard> cards;
    int status = kDone;
    for (const auto& file : files) {
        auto card = read_score_card(file, sources, presets, options.worst);
        if (!card) { // the other tables are scored
            status = fail(card.error());
            continue;
        }
        // The same table in two of the folders would count twice.
        const auto same = [&](const ScoreCard& other) { return other.table->sha256 == card->table->sha256; };
        if (std::any_of(cards.begin(), cards.end(), same))
            continue;
        for (const Problem& problem : card->table->problems)
            warn(problem.line());
        for (const std::string& remark : card->table->remarks)
            warn(remark);
        cards.push_back(*std::move(card));
    }
    if (cards.empty())
        return status;
    if (const auto note
        = hidden_presets_note(presets_of(std::vector<std::string>{"models", "gpus", "clusters", "stacks"})))
        warn(*note);
    if (!options.confidence.empty()) {
        const Widths widths = widths_of(outer_errors(cards, sources, presets));
        FOURFOLD_CHECK(write_widths(widths, options.confidence));
        for (const StackConfidence& confidence : confidence_of(cards, widths)) {
            FOURFOLD_CHECK(write_confidence(confidence, options.confidence));
            std::cerr << "wrote " << options.confidence << "/stacks/" << confidence.stack << ".json\n";
        }
        return status;
    }
    if (!options.report.empty()) {
        FOURFOLD_CHECK(
            write_file_atomically(options.report, validation_report(cards, nested(cards, sources, presets))));
        std::cerr << "wrote " << options.report << "\n";
    } else {
        write_cards(cards, nested(cards, sources, presets), format);
    }
    return status;
}

} // namespace

void add_validate(Cli& cli)
{
    auto* command = cli.app.add_subcommand("validate",
        "Predictions beside measured tables: errors left out and in-sample, memory, verdicts, ranking, intervals");
    const auto options = std::make_shared<ValidateOptions>();
    command
        ->add_option("FILE", options->files,
            "measured tables (CSV as described in presets/published/README.md) or folders of them; none: those "
            "published")
        ->type_name("");
    options->format.add_to(*command);
    CLI::Option* report
        = command->add_option("--report", options->report, "write everything as a Markdown report to this file instead")
              ->type_name("FILE");
    CLI::Option* confidence = command
                                  ->add_option("--write-confidence", options->confidence,
                                      "write half-widths of intervals and measured regimes, from the left-out errors, "
                                      "into the stacks of this "
                                      "presets folder instead")
                                  ->type_name("FOLDER");
    confidence->excludes(report);
    for (CLI::Option* const instead : {report, confidence})
        for (const char* format : {"--format", "--json"})
            instead->excludes(format);
    command->add_option("--worst", options->worst, "how many of the worst rows to name (10)")
        ->type_name("N")
        ->check(CLI::Range(0, 100000));
    command->callback([&cli, options] { cli.chosen = [options] { return validate(*options); }; });
}

} // namespace fourfold::cli
