// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold history`: the options of its subcommands.
#include "app/cli/history/history_view.h"
#include "app/cli/output_file.h"
#include "core/base/text.h"
#include "core/report/views/run_filter.h"

#include <limits>
#include <memory>

namespace fourfold::cli {

namespace {

struct HistoryOptions {
    FormatOptions format;
    std::vector<std::string> ids;
    std::vector<std::string> add_tags, remove_tags;
    std::string file, output, run, filter;
    PlanOptions plan; // of a log that is imported
    DashboardOptions dashboards;
    std::vector<std::string> note; // its words
    int limit = 50;
    bool all = false, deleted = false;
};

// Adds a subcommand whose work gets the chosen format.
template <typename Work>
CLI::App* add(Cli& cli, CLI::App& parent, const char* name, const char* text,
    const std::shared_ptr<HistoryOptions>& options, Work work)
{
    auto* command = parent.add_subcommand(name, text);
    options->format.add_to(*command);
    command->callback([&cli, options, work] {
        cli.chosen = [options, work]() -> Expected<int> {
            FOURFOLD_TRY(const auto format, options->format.format());
            return work(*options, format);
        };
    });
    return command;
}

} // namespace

Expected<std::optional<HistoryStore>> open_history()
{
    return HistoryStore::open_existing(HistoryStore::default_file());
}

Expected<HistoryStore> open_history_with_runs()
{
    FOURFOLD_TRY(auto store, open_history());
    if (!store)
        return Problem{ProblemCode::not_found, "the history holds no run yet", "start one with `fourfold run PLAN`",
            HistoryStore::default_file().string()};
    return *std::move(store);
}

namespace {

// Subcommands that change runs and print no table.
template <typename Work>
CLI::App* add_change(Cli& cli, CLI::App& parent, const char* name, const char* text,
    const std::shared_ptr<HistoryOptions>& options, Work work)
{
    auto* command = parent.add_subcommand(name, text);
    command->callback([&cli, options, work] { cli.chosen = [options, work] { return work(*options); }; });
    return command;
}

constexpr const char* kOfTheEnding = "";

// Where none is given, that of the file's name: a spreadsheet reads no JSON.
Expected<TableFormat> export_format(const HistoryOptions& options)
{
    const std::string ending = lower_case(std::filesystem::path(options.output).extension().string());
    if (options.format.json || options.format.name != kOfTheEnding)
        return options.format.format();
    const auto format = table_format_of_ending(ending);
    if (format && format != TableFormat::text)
        return *format;
    FOURFOLD_CHECK(check_ending(options.output, "an export", {".json", ".csv", ".md", ".tex"}));
    return TableFormat::json;
}

void add_annotations(Cli& cli, CLI::App& command)
{
    const auto name_runs = [](CLI::App& subcommand, const std::shared_ptr<HistoryOptions>& options) {
        subcommand.add_option("RUN", options->ids, "ids or their beginnings")
            ->required()
            ->expected(1, std::numeric_limits<int>::max());
    };
    {
        const auto options = std::make_shared<HistoryOptions>();
        auto* tag = add_change(cli, command, "tag", "Tags of runs: show them, add some, remove some", options,
            [](const HistoryOptions& o) { return tag_runs(o.ids, o.add_tags, o.remove_tags); });
        name_runs(*tag, options);
        tag->add_option("--add", options->add_tags, "tag to add; may be repeated")
            ->type_name("TAG")
            ->allow_extra_args(false);
        tag->add_option("--remove", options->remove_tags, "tag to remove; may be repeated")
            ->type_name("TAG")
            ->allow_extra_args(false);
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        auto* note = add_change(cli, command, "note", "Write a note on a run; an empty text removes it", options,
            [](const HistoryOptions& o) { return note_run(o.run, joined(o.note, " ")); });
        note->add_option("RUN", options->run, "id or its beginning")->required();
        note->add_option("TEXT", options->note, "the note")->required()->expected(1, std::numeric_limits<int>::max());
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        name_runs(*add_change(cli, command, "delete", "Hide runs; they can be brought back until they are purged",
                      options, [](const HistoryOptions& o) { return delete_runs(o.ids); }),
            options);
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        name_runs(*add_change(cli, command, "restore", "Bring deleted runs back", options,
                      [](const HistoryOptions& o) { return restore_runs(o.ids); }),
            options);
    }
    const auto options = std::make_shared<HistoryOptions>();
    add_change(cli, command, "purge", "Remove deleted runs for good, with their folders on this computer", options,
        [](const HistoryOptions&) { return purge_runs(); });
}

} // namespace

void add_history(Cli& cli)
{
    auto* command = cli.app.add_subcommand("history", "The stored runs: prediction beside measurement");
    command->require_subcommand(1);
    {
        const auto options = std::make_shared<HistoryOptions>();
        auto* list = add(
            cli, *command, "list", "Runs, newest first", options, [](const HistoryOptions& o, TableFormat format) {
                return o.deleted ? list_deleted(format)
                                 : list_runs(format, o.all ? std::numeric_limits<int>::max() : o.limit, o.filter);
            });
        auto* limit = list->add_option("--limit", options->limit, "at most so many runs (50)")
                          ->check(CLI::Range(1, 1'000'000'000));
        list->add_flag("--all", options->all, "every run")->excludes(limit);
        auto* deleted = list->add_flag("--deleted", options->deleted, "the runs that `delete` hid")->excludes(limit);
        list->add_option("--filter", options->filter,
                "only runs with all of these words, or for which an expression holds, as in 'abs(error) > 0.1 and gpus "
                ">= 8'")
            ->type_name("TEXT")
            ->excludes(deleted);
        std::string fields;
        const RunFields known({});
        for (const ExpressionField& field : known.set().fields())
            fields += (fields.empty() ? "" : ", ") + field.name;
        list->footer("Fields of --filter: " + fields + ".");
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        options->ids = {"last"};
        add(cli, *command, "show", "One run: predicted and measured figures, losses, hosts, versions", options,
            [](const HistoryOptions& o, TableFormat format) { return show_run(format, o.ids.front()); })
            ->add_option("RUN", options->ids, "id of a run or its beginning; last when left out")
            ->expected(0, 1);
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        add(cli, *command, "compare", "Runs side by side, differences marked", options,
            [](const HistoryOptions& o, TableFormat format) { return compare_runs(format, o.ids); })
            ->add_option("RUN", options->ids, "two or more ids")
            ->required()
            ->expected(2, std::numeric_limits<int>::max());
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        options->format.name = kOfTheEnding;
        auto* out = add_change(cli, *command, "export", "Runs as JSON that `import` reads, or as a table", options,
            [](const HistoryOptions& o) -> Expected<int> {
                FOURFOLD_TRY(const TableFormat format, export_format(o));
                return o.dashboards.any() ? export_to_dashboards(o.dashboards, o.ids)
                                          : export_runs(format, o.ids, o.output);
            });
        options->format.add_to(*out);
        out->add_option("RUN", options->ids, "ids; every run when left out")
            ->expected(0, std::numeric_limits<int>::max());
        auto* output = out->add_option("-o,--output", options->output, "write to this file instead of standard output")
                           ->type_name("FILE");
        for (CLI::Option* const board : options->dashboards.add_to(*out))
            for (CLI::Option* const other : {output, out->get_option("--format"), out->get_option("--json")})
                board->excludes(other); // they are files of their own kinds
    }
    {
        const auto options = std::make_shared<HistoryOptions>();
        // Not named `import`: clang-format takes that for a module's keyword.
        auto* importer = command->add_subcommand("import", "Take runs from an exported file, a table or a log");
        importer
            ->add_option("FILE", options->file,
                "made by `fourfold history export`, a CSV table as in presets/published, or a log of "
                "Megatron-LM, Megatron-DeepSpeed or torchtitan")
            ->required();
        auto* plan
            = importer->add_option("--plan", options->plan.plan, "of a log: the plan that was run")->type_name("PLAN");
        importer
            ->add_option(
                "--set", options->plan.assignments, "change a field of that plan, as in layout.tp=4; may be repeated")
            ->type_name("FIELD=VALUE")
            ->allow_extra_args(false)
            ->needs(plan);
        importer->add_flag("--json", options->format.json, "print the result as JSON");
        importer->callback([&cli, options] {
            cli.chosen = [options] { return import_runs(options->file, options->plan, options->format.json); };
        });
    }
    add_annotations(cli, *command);
}

} // namespace fourfold::cli
