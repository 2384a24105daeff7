// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold queue`: runs that start one after another, by themselves.
#include "app/cli/runs/run_progress.h"
#include "app/cli/runs/stop_signals.h"
#include "runner/queue/queue_table.h"
#include "runner/queue/queue_worker.h"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <set>

namespace fourfold::cli {

namespace {

struct QueueOptions {
    FormatOptions format;
    std::vector<std::int64_t> numbers;
    int place = 1;
    std::int64_t number = 0; // of move; of work: 0 = give turns
    bool behind = false;
};

Expected<int> list(const QueueOptions& options)
{
    FOURFOLD_TRY(const TableFormat format, options.format.format());
    FOURFOLD_TRY(const QueueContents contents, RunQueue().read());
    if (format != TableFormat::text) {
        std::cout << queue_table(contents).write(format);
        return kDone;
    }
    if (contents.runs.empty()) {
        std::cerr << "the queue is empty; `fourfold run PLAN --queue` adds a run\n";
        return kDone;
    }
    std::cout << queue_table(contents).write(format);
    std::cerr << queue_summary(contents) << "\n";
    if (RunQueue().is_stalled(contents))
        std::cerr << "nothing is started now; `fourfold queue resume` goes on\n";
    return kDone;
}

Expected<int> remove(const QueueOptions& options)
{
    const RunQueue queue;
    FOURFOLD_TRY(QueueContents contents, queue.read());
    const std::set<std::int64_t> numbers(options.numbers.begin(), options.numbers.end());
    for (const std::int64_t number : numbers) { // none is taken out beside one that is mistyped
        if (!contents.find(number))
            return Problem{ProblemCode::not_found, "the queue has no run " + std::to_string(number),
                "nothing is taken out; `fourfold queue list` lists what it has", {}};
    }
    for (const std::int64_t number : numbers)
        FOURFOLD_CHECK(queue.remove(number));
    return kDone;
}

Expected<int> move(const QueueOptions& options)
{
    FOURFOLD_CHECK(RunQueue().move(options.number, options.place));
    return kDone;
}

Expected<int> pause(bool paused)
{
    const RunQueue queue;
    FOURFOLD_CHECK(queue.set_paused(paused));
    FOURFOLD_CHECK(ensure_turns(queue));
    FOURFOLD_TRY(const QueueContents contents, queue.read());
    std::cout << queue_summary(contents) << "\n";
    return kDone;
}

Expected<int> clear()
{
    FOURFOLD_TRY(const int count, RunQueue().clear());
    std::cout << "took out " << count << (count == 1 ? " run that has ended\n" : " runs that have ended\n");
    return kDone;
}

// Nothing of the caller's ends with it, and nobody waits for it.
Expected<void> go_behind()
{
    if (::daemon(0, 1) != 0)
        return Problem{ProblemCode::failed, "the program cannot go behind", {}, "fourfold queue work"};
    return {};
}

Expected<int> work(const QueueOptions& options)
{
    const RunQueue queue;
    if (options.number > 0) {
        RunProgress progress(false, false);
        FOURFOLD_CHECK(see_to_queued_run(queue, options.number, progress, {}));
        return kDone;
    }
    if (options.behind)
        FOURFOLD_CHECK(go_behind());
    const StopSignals signals("giving no more turns; what runs goes on");
    FOURFOLD_TRY(const bool ours,
        give_turns(
            queue, [&](std::int64_t number) { return begin_queued_run(queue, number); }, signals.token()));
    if (!ours && !options.behind)
        return fail({ProblemCode::refused, "another program gives the queued runs their turns already", {},
            queue.folder().string()});
    return kDone;
}

CLI::App* add(Cli& cli, CLI::App& parent, const char* name, const char* text,
    const std::shared_ptr<QueueOptions>& options, Expected<int> (*action)(const QueueOptions&))
{
    auto* command = parent.add_subcommand(name, text);
    command->callback([&cli, options, action] { cli.chosen = [options, action] { return action(*options); }; });
    return command;
}

} // namespace

void add_queue(Cli& cli)
{
    auto* command
        = cli.app.add_subcommand("queue", "Runs that wait for their turn and start by themselves, one after another");
    command->footer(
        "`fourfold run PLAN --queue` adds a run. Runs on the same hosts go one after another, those on\n"
        "others at the same time; in Slurm's own queue all at once. A run starts when the hosts are free\n"
        "of every run of this computer's history, whether or not a window or a terminal is open. Questions\n"
        "are not answered: let `fourfold probe --target TARGET` store the keys of its hosts first.\n"
        "`fourfold stop` and `fourfold attach` take a queued run as any other once it has started.");
    command->require_subcommand(1);
    const auto options = [] { return std::make_shared<QueueOptions>(); };
    {
        const auto o = options();
        o->format.add_to(*add(cli, *command, "list", "What waits, runs and has ended, in its order", o, list));
    }
    {
        const auto o = options();
        add(cli, *command, "remove", "Take runs out that have not started, or have ended", o, remove)
            ->add_option("NUMBER", o->numbers, "as `fourfold queue list` gives it")
            ->required()
            ->expected(1, 1000);
    }
    {
        const auto o = options();
        auto* mover = add(cli, *command, "move", "Give a run that waits another place", o, move);
        mover->add_option("NUMBER", o->number, "as `fourfold queue list` gives it")->required();
        mover->add_option("PLACE", o->place, "among those that wait; 1: the next one")
            ->required()
            ->check(CLI::Range(1, 1'000'000));
    }
    add(cli, *command, "pause", "Start nothing more until `resume`; what runs goes on", options(),
        [](const QueueOptions&) { return pause(true); });
    add(cli, *command, "resume", "Go on starting what waits", options(),
        [](const QueueOptions&) { return pause(false); });
    add(cli, *command, "clear", "Take out what has ended", options(), [](const QueueOptions&) { return clear(); });
    {
        const auto o = options();
        auto* worker = add(cli, *command, "work",
            "Start what waits, until nothing does (done by itself when runs are added)", o, work);
        worker->add_option("--number", o->number, "see to this one run")
            ->type_name("NUMBER")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
        worker->add_flag("--behind", o->behind, "go on without this terminal");
    }
}

} // namespace fourfold::cli
