// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold find`: from the name of a host or of a login to a saved target and its cluster.
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "app/view/cluster/cluster_finder.h"
#include "core/base/text.h"
#include "runner/nodes/connections.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct FindOptions {
    FindQuestions questions;
    std::vector<std::string> prelude, lines;
    ClusterChoice choice;
    std::string partition, account, qos, time, plan;
    int gpus = 0;
    bool no_slurm = false, no_save = false, measure = false, json = false, accept_new_hosts = false, dry_run = false;
};

ClusterChoice choice_of(const FindOptions& options, const FoundCluster& found)
{
    ClusterChoice choice = first_choice(found, options.gpus);
    const auto take = [](std::string& to, const std::string& from) { to = from.empty() ? to : from; };
    choice.slurm = choice.slurm && !options.no_slurm;
    take(choice.id, options.choice.id);
    take(choice.queue.partition, options.partition);
    take(choice.queue.account, options.account);
    take(choice.queue.qos, options.qos);
    take(choice.queue.time, options.time);
    choice.like = options.choice.like;
    choice.nodes = options.choice.nodes > 0 ? options.choice.nodes : choice.nodes;
    if (!options.lines.empty())
        choice.queue.lines = options.lines;
    return choice;
}

// The first option that is of a queue; empty: none is given.
std::string queue_option(const FindOptions& options)
{
    const std::pair<bool, const char*> given[] = {{!options.partition.empty(), "--partition"},
        {!options.account.empty(), "--account"}, {!options.qos.empty(), "--qos"}, {!options.time.empty(), "--time"},
        {!options.lines.empty(), "--sbatch"}, {options.choice.nodes > 0, "--nodes"}};
    for (const auto& [is_given, name] : given)
        if (is_given)
            return name;
    return "";
}

Expected<int> find(const FindOptions& options)
{
    FindQuestions questions = options.questions;
    questions.prelude = joined(options.prelude, "\n");
    if (options.dry_run) {
        FOURFOLD_TRY(const Target target, target_to_ask(questions));
        FOURFOLD_TRY(const LaunchPreview preview, preview_probe(target, false));
        return show(preview, options.json);
    }
    if (!options.no_save && !options.choice.id.empty()) // a look takes its time, and may ask for passwords
        FOURFOLD_CHECK(check_saved_id(options.choice.id, options.choice.like));
    RunProgress progress(false, options.accept_new_hosts);
    const auto found = [&] {
        const StopSignals signals("stopping the look");
        return find_cluster(questions, progress, signals.token());
    }();
    if (!found)
        return found.error();
    const Presets presets;
    const ClusterChoice choice = choice_of(options, *found);
    if (const std::string option = queue_option(options); !option.empty() && !choice.slurm)
        return Problem{ProblemCode::bad_input, "has no Slurm, of whose queue " + option + " is", "leave it out",
            options.questions.name};
    Json out = options.json ? to_json(*found) : Json();
    if (!options.json) {
        for (const std::string& line : found_lines(*found))
            std::cout << line << "\n";
    }
    if (!options.no_save) {
        FOURFOLD_TRY(const PlannedCluster planned, planned_cluster(*found, choice, presets));
        FOURFOLD_TRY(SavedCluster saved, save_found(*found, choice, presets));
        out["saved"] = {{"target", saved.target}, {"target_file", saved.target_file.string()},
            {"cluster", saved.cluster}, {"cluster_file", saved.cluster_file.string()}, {"gpus", saved.gpus}};
        std::cerr << "saved target " << saved.target << " in " << saved.target_file.string() << "\n"
                  << planned.why << "\n";
        if (options.measure) {
            std::optional<Plan> shapes;
            if (!options.plan.empty()) {
                FOURFOLD_TRY(shapes, read_plan(options.plan));
            }
            FOURFOLD_TRY(
                const view::MeasuringJob job, view::measuring_job_of(saved, chosen_nodes(*found, choice), shapes));
            const StopSignals signals("stopping the measurement");
            FOURFOLD_TRY(const view::SavedMachine measured, view::measure_machine(job, progress, signals.token()));
            saved.cluster = measured.cluster;
            out["measured"] = to_json(measured.machine);
            std::cerr << "saved cluster " << measured.cluster << " in " << measured.file.string() << "\n";
            if (!options.json)
                std::cout << to_text(measured.machine);
        }
        if (!options.json && !saved.cluster.empty())
            std::cout << "use it: --set cluster=" << saved.cluster
                      << (saved.gpus > 0 ? " --set gpus=" + std::to_string(saved.gpus) : "") << " --target "
                      << saved.target << "\n";
    }
    if (options.json)
        print_json(out);
    return kDone;
}

} // namespace

void add_find(Cli& cli)
{
    auto* command
        = cli.app.add_subcommand("find", "Find nodes, GPUs, links and partitions behind one name, and save them");
    command->footer(
        "The name is a host, an alias of ~/.ssh/config, a list of hosts, or the login host of a Slurm. What is\n"
        "found is saved as a target, with a cluster preset where no preset is like it. Links are seen on the\n"
        "nodes themselves; of Slurm's nodes it is known what sinfo tells.");
    const auto options = std::make_shared<FindOptions>();
    command->add_option("name", options->questions.name, "host, SSH alias, user@a,b[1-4], login host, or local")
        ->type_name("NAME")
        ->required();
    auto* save
        = command
              ->add_option("--save", options->choice.id, "id of the target and its cluster (else made from the name)")
              ->type_name("ID");
    auto* no_save = command->add_flag("--no-save", options->no_save, "only say what is there");
    no_save->excludes(save);
    command->add_option("--like", options->choice.like, "cluster preset that it is taken for")->type_name("CLUSTER");
    command->add_option("--jump", options->questions.jumps, "hosts on the way, the first one reached first")
        ->type_name("HOSTS");
    command->add_option("--base-folder", options->questions.base_folder, "folder of Fourfold on the nodes")
        ->type_name("FOLDER");
    command->add_option("--prelude", options->prelude, "shell line that runs before the ranks; may be repeated")
        ->type_name("LINE")
        ->allow_extra_args(false);
    auto* no_slurm = command->add_flag("--no-slurm", options->no_slurm, "the host itself, also where it has a Slurm");
    command->add_option("--nodes", options->choice.nodes, "nodes of Slurm for the plan")
        ->type_name("N")
        ->check(CLI::Range(1, 65536))
        ->excludes(no_slurm);
    for (const auto& [name, text, help] : {std::tuple{"--partition", &FindOptions::partition, "Slurm partition"},
             std::tuple{"--account", &FindOptions::account, "Slurm account"},
             std::tuple{"--qos", &FindOptions::qos, "Slurm quality of service"},
             std::tuple{"--time", &FindOptions::time, "Slurm time limit of a job"}})
        command->add_option(name, (*options).*text, help)->type_name("TEXT")->excludes(no_slurm);
    command
        ->add_option(
            "--sbatch", options->lines, "further option of sbatch, as in --sbatch=--mail-type=END; may be repeated")
        ->type_name("OPTION")
        ->allow_extra_args(false)
        ->excludes(no_slurm);
    auto* measure = command->add_flag(
        "--measure", options->measure, "then measure how fast its ranks are, on one node (about a minute)");
    measure->excludes(no_save);
    command->add_option("--plan", options->plan, "with --measure: plan whose model's shapes are measured")
        ->type_name("PLAN")
        ->needs(measure);
    command->add_flag("--dry-run", options->dry_run, "say what would be opened and run, open and run nothing");
    command->add_flag("--json", options->json, "print one object");
    add_accept_new_hosts(*command, options->accept_new_hosts);
    command->callback([&cli, options] { cli.chosen = [options] { return find(*options); }; });
}

} // namespace fourfold::cli
