// SPDX-License-Identifier: GPL-3.0-or-later
// fourfold-trainer --plan PLAN.json --run-dir DIR: one rank of a training job.
// fourfold-trainer --rehearse PLAN.json [--timeline] [--expert-imbalance SHARE]: all ranks of one, without values
// (rehearsal/rehearse.h): lines of JSON, how far it came and last what it found.
// fourfold-trainer --export | --score | --generate: a checkpoint as a model folder, looked at (inference/tools.h).
// Exit status: 0 done; 1 failed (an error event was written); 2 unusable input; 143 stopped by SIGTERM.
#include "core/base/standard_streams.h"
#include "core/base/text.h"
#include "runner/trainer/inference/tools.h"
#include "runner/trainer/metrics/stack_dump.h"
#include "runner/trainer/rehearsal/rehearse.h"
#include "runner/trainer/start_up.h"
#include "runner/trainer/train.h"

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace fourfold;

constexpr char kUsage[] = "usage: fourfold-trainer --plan PLAN.json --run-dir DIR\n"
                          "       fourfold-trainer --rehearse PLAN.json [--timeline] [--expert-imbalance SHARE]\n"
                          "One rank of a job; RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT say which.\n";

// Before the first step there is nothing to finish: leave at once. Later ones change nothing: Slurm signals the ranks
// of a job, and so does their agent when it has heard why.
void on_terminate(int)
{
    if (trainer::request_stop())
        return;
    ::_exit(trainer::kStoppedStatus);
}

// A C++ exception that nobody caught, for instance on one of NCCL's own threads.
void on_uncaught()
{
    const auto tell = [](const char* what) { // the exception may be that there is no memory, also for this
        try {
            trainer::report_fatal(what);
        } catch (...) {
            std::fprintf(stderr, "%s\n", what);
        }
        ::_exit(1);
    };
    try {
        if (const auto current = std::current_exception())
            std::rethrow_exception(current);
    } catch (const std::exception& error) {
        tell(error.what());
    } catch (...) {
    }
    tell("uncaught exception");
}

// A blend has a file for each of its sources, a rank several sockets for each peer: a session's usual 1,024 are soon
// gone.
void open_as_many_files_as_allowed()
{
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
}

Expected<trainer::Job> read_arguments(int argc, char** argv)
{
    std::string plan, folder;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        std::string* value = argument == "--plan" ? &plan : argument == "--run-dir" ? &folder : nullptr;
        if (!value || i + 1 == argc)
            return Problem{ProblemCode::bad_input,
                value ? "no value after " + argument : "unknown argument " + in_quotes(argument),
                "see fourfold-trainer --help", "fourfold-trainer"};
        if (!value->empty())
            return Problem{ProblemCode::bad_input, argument + " is given twice", "", "fourfold-trainer"};
        *value = argv[++i];
    }
    if (plan.empty() || folder.empty())
        return Problem{ProblemCode::bad_input, std::string(plan.empty() ? "--plan" : "--run-dir") + " is missing",
            "fourfold-trainer --plan PLAN.json --run-dir DIR", "fourfold-trainer"};
    return trainer::job_from_environment(plan, folder);
}

// Writes the rehearsal to standard output. 0: all ranks come to their end; 1: they do not, or it failed; 2: unusable
// input.
int rehearse_plan(const char* file, trainer::RehearsalSettings settings)
{
    const auto told = [](const Problem& problem) {
        std::fprintf(stderr, "%s\n", problem.line().c_str());
        return problem.exit_status();
    };
    try {
        const auto plan = trainer::read_checked_plan(file);
        if (!plan)
            return told(plan.error());
        const auto print = [](const Json& line) {
            std::printf("%s\n", line.dump().c_str());
            std::fflush(stdout);
        };
        settings.told = [&](const trainer::RehearsalProgress& progress) { print(to_json(progress)); };
        const auto result = trainer::rehearse(*plan, settings);
        if (!result)
            return told(result.error());
        print(*result);
        return (*result)["verdict"] == "ok" ? 0 : 1;
    } catch (const std::exception& error) { // LibTorch's
        return told({ProblemCode::failed, std::string("the rehearsal failed: ") + error.what(), "", file});
    }
}

Expected<trainer::RehearsalSettings> rehearsal_settings(int argc, char** argv)
{
    trainer::RehearsalSettings settings;
    const auto unusable = [](const std::string& what) {
        return Problem{ProblemCode::bad_input, what,
            "fourfold-trainer --rehearse PLAN.json [--timeline] [--expert-imbalance SHARE]", "fourfold-trainer"};
    };
    if (argc < 3)
        return unusable("no value after --rehearse");
    bool has_share = false;
    for (int i = 3; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--timeline") {
            settings.timeline = true;
            continue;
        }
        if (argument != "--expert-imbalance")
            return unusable("unknown argument " + in_quotes(argument));
        if (i + 1 == argc || std::exchange(has_share, true))
            return unusable(i + 1 == argc ? "no value after " + argument : argument + " is given twice");
        const std::string share = argv[++i];
        const auto [end, error] = std::from_chars(share.data(), share.data() + share.size(), settings.expert_imbalance);
        if (error != std::errc() || end != share.data() + share.size() || !(settings.expert_imbalance >= 0)
            || !std::isfinite(settings.expert_imbalance))
            return Problem{ProblemCode::bad_input, "found " + in_quotes(share) + ", expected a share", "0.3: 30 % more",
                "--expert-imbalance"};
    }
    return settings;
}

} // namespace

int main(int argc, char** argv)
{
    begin_program();
    if (argc >= 2 && (std::string(argv[argc - 1]) == "--help" || std::string(argv[1]) == "-h")) {
        std::fputs(kUsage, stdout);
        std::fputs(trainer::kToolUsage, stdout);
        return status_after_output(0, "fourfold-trainer");
    }
    if (argc >= 2 && std::string(argv[1]) == "--rehearse") {
        const auto settings = rehearsal_settings(argc, argv);
        if (!settings)
            return std::fprintf(stderr, "%s\n", settings.error().line().c_str()), 2;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody else reads the answer
        const char* const parent = std::getenv("FOURFOLD_PARENT"); // who may be gone already
        if (parent != nullptr && std::to_string(::getppid()) != parent)
            return 1;
        return status_after_output(rehearse_plan(argv[2], *settings), "fourfold-trainer");
    }
    if (const std::vector<std::string> arguments(argv + 1, argv + argc); trainer::is_tool(arguments))
        return status_after_output(trainer::run_tool(arguments), "fourfold-trainer");
    std::signal(SIGTERM, on_terminate);
    std::set_terminate(on_uncaught);
    open_as_many_files_as_allowed();

    auto job = read_arguments(argc, argv);
    if (job)
        trainer::install_stack_dump((job->run_folder / ("rank" + std::to_string(job->rank) + ".stack")).string());
    const int status = job ? trainer::train(*job) : (std::fprintf(stderr, "%s\n", job.error().line().c_str()), 2);
    // Without destructors: Gloo's would wait for peers that may be gone.
    std::fflush(nullptr);
    ::_exit(status);
}
