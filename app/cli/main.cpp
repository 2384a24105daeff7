// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/text/printable_output.h"
#include "core/base/paths.h"
#include "core/base/standard_streams.h"
#include "core/base/text.h"
#include "core/base/thrown.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <unistd.h>

namespace {

using namespace fourfold;
using namespace fourfold::cli;

// The subcommand that the arguments reached, for its options' names.
const CLI::App* reached(const CLI::App& app)
{
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty())
        at = at->get_subcommands().back();
    return at;
}

std::string command_line_of(const CLI::App& app)
{
    return app.get_parent() ? command_line_of(*app.get_parent()) + " " + app.get_name() : "fourfold";
}

// "did you mean --target?" for the first argument that nothing took.
std::string suggestion(const CLI::App& app)
{
    const CLI::App* command = reached(app);
    const std::vector<std::string> left = app.remaining(true);
    if (left.empty())
        return "";
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options())
        for (const std::string& name : option->get_lnames())
            known.push_back("--" + name);
    for (const CLI::App* subcommand : command->get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(subcommand->get_name());
    const std::string word = left.front().substr(0, left.front().find('='));
    const std::vector<std::string> near = nearest_words(word, known, 1);
    if (near.empty())
        return "";
    if (near.front() == word) // it stands before its subcommand
        return "give it behind " + command->get_name() + "; ";
    return "did you mean " + near.front() + "? ";
}

int unusable_arguments(const CLI::App& app, const CLI::ParseError& error)
{
    constexpr std::size_t kLongestWord = 400; // the parser repeats what it was given
    Problem problem{ProblemCode::bad_input, printable(error.what(), kLongestWord), "", "arguments"};
    // A misspelt subcommand or option is named even where the parser first misses something else.
    const std::vector<std::string> left = app.remaining(true);
    if (!left.empty())
        problem.message = "nothing takes " + in_quotes(left.front());
    problem.hint = suggestion(app) + "see " + command_line_of(*reached(app)) + " --help";
    return fail(problem);
}

// The first option whose value is empty, as a script's "$NAME" is that was never set: passed over, the command would do
// something else than is meant (`run --sweep ""` a single run). With some an empty value has a meaning, and with those
// that may stand alone (`--explain`) it is how CLI11 tells that they do.
const CLI::Option* option_without_value(const CLI::App& app)
{
    static const std::set<std::string> kMayBeEmpty{"--eos", "--filter"};
    for (const CLI::App* at = &app;; at = at->get_subcommands().back()) {
        for (const CLI::Option* option : at->get_options()) {
            const std::vector<std::string>& values = option->results();
            if (option->nonpositional() && option->get_expected_min() > 0 && !kMayBeEmpty.contains(option->get_name())
                && std::find(values.begin(), values.end(), "") != values.end())
                return option;
        }
        if (at->get_subcommands().empty())
            return nullptr;
    }
}

// A misspelt folder would go unseen where other folders have a preset of the same id.
void warn_of_missing_presets()
{
    std::error_code error;
    const auto tell = [](const std::string& folder) {
        warn(printable(folder, kUncut) + " is no folder, so no presets come from there");
    };
    const std::filesystem::path own = config_folder() / "presets"; // need not be there
    if (std::filesystem::exists(std::filesystem::symlink_status(own, error))
        && !std::filesystem::is_directory(own, error))
        tell(own.string());
    const char* const named = std::getenv("FOURFOLD_PRESETS");
    std::istringstream folders(named ? named : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            tell("FOURFOLD_PRESETS: " + folder);
    }
}

Expected<int> run(int argc, char** argv)
{
    Cli cli;
    cli.app.name("fourfold");
    cli.app.description("Plans, runs and measures 4D-parallel training of language models.\n"
                        "PLAN is a plan file or the id of a plan preset (`fourfold presets plans`).");
    cli.app.set_version_flag("-V,-v,--version", "fourfold " FOURFOLD_VERSION);
    cli.app.require_subcommand(1);
    cli.app.get_formatter()->column_width(34);
    add_predict(cli);
    add_search(cli);
    add_recipe(cli);
    add_recommend(cli);
    add_sweep(cli);
    add_timeline(cli);
    add_profile(cli);
    add_table(cli);
    add_compare(cli);
    add_find(cli);
    add_probe(cli);
    add_rehearse(cli);
    add_run(cli);
    add_attach(cli);
    add_stop(cli);
    add_queue(cli);
    add_gc(cli);
    add_history(cli);
    add_presets(cli);
    add_model(cli);
    add_libtorch(cli);
    add_pack(cli);
    add_validate(cli);
    add_calibrate(cli);
    add_guide(cli);
    add_completion(cli);
    add_tui(cli);
    if (argc == 1 && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0)
        return cli.alone();
    try {
        cli.app.parse(argc, argv);
    } catch (const CLI::Success& help_or_version) {
        return cli.app.exit(help_or_version);
    } catch (const CLI::ParseError& error) {
        return unusable_arguments(cli.app, error);
    }
    if (const CLI::Option* const option = option_without_value(cli.app))
        return Problem{ProblemCode::bad_input, "found nothing, expected a name or a value",
            "leave it out, or give it one", "--" + option->get_lnames().front()};
    warn_of_missing_presets();
    return cli.chosen();
}

} // namespace

int main(int argc, char** argv)
{
    begin_program();
    std::ios::sync_with_stdio(false);
    const PrintableBuffer out(std::cout), errors(std::cerr);
    const Expected<int> status = unless_thrown("", [&] { return run(argc, argv); });
    if (!status)
        return fail(status.error());
    std::cout.flush();
    if (!std::cout && *status == kDone)
        return fail(
            {ProblemCode::io, "cannot write the answer", "is the disk full or the reader gone?", "standard output"});
    return *status;
}
