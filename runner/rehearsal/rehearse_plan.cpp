// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/rehearsal/rehearse_plan.h"

#include "core/base/file_descriptor.h"
#include "core/base/paths.h"
#include "core/base/seconds.h"
#include "core/base/text.h"
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "core/program/expert_imbalance.h"
#include "runner/bundle/trainer_libraries.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

constexpr std::size_t kMostOutput = std::size_t(1) << 30;
constexpr std::uintmax_t kMostProgress = 1u << 20; // bytes of its lines; the verdict, with its timeline, is longer

// A file in memory alone: nothing is left of it, however this program ends.
class MemoryFile {
public:
    static Expected<MemoryFile> make(const char* name)
    {
        MemoryFile file;
        file.descriptor_ = FileDescriptor(memfd_create(name, MFD_CLOEXEC));
        if (!file.descriptor_.valid())
            return Problem{
                ProblemCode::io, std::string("no file in memory: ") + std::strerror(errno), {}, "the rehearsal"};
        return file;
    }
    [[nodiscard]] int descriptor() const { return descriptor_.get(); }
    [[nodiscard]] std::filesystem::path path() const { return path_of(descriptor()); }
    static std::filesystem::path path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }
    Expected<void> write(std::string_view text) const
    {
        while (!text.empty()) {
            const ssize_t written = ::write(descriptor(), text.data(), text.size());
            if (written < 0 && errno != EINTR)
                return Problem{ProblemCode::io, std::string("cannot be written: ") + std::strerror(errno), {},
                    "the rehearsal's plan"};
            text.remove_prefix(std::size_t(std::max<ssize_t>(written, 0)));
        }
        return {};
    }

private:
    MemoryFile() = default;
    FileDescriptor descriptor_;
};
constexpr int kPlanOfChild = 3; // its descriptor

// This program's environment, with the folders of LibTorch where the trainer does not find it by itself, and first of
// all for whom it works: it ends with this program, also where that is gone before the trainer runs.
std::vector<std::string> environment_for(const TrainerLibraries& found)
{
    std::vector<std::string> out{"FOURFOLD_PARENT=" + std::to_string(::getpid())};
    std::string folders;
    if (!found.by_itself) {
        std::set<std::filesystem::path> seen;
        for (const SharedLibrary& library : found.libraries)
            if (seen.insert(library.file.parent_path()).second)
                folders += (folders.empty() ? "" : ":") + library.file.parent_path().string();
    }
    for (char** entry = environ; *entry; ++entry)
        if (folders.empty() || std::strncmp(*entry, "LD_LIBRARY_PATH=", 16) != 0)
            out.emplace_back(*entry);
    if (!folders.empty())
        out.push_back("LD_LIBRARY_PATH=" + folders);
    return out;
}

struct Ended {
    int status = 0; // as waitpid() has it
    bool stopped = false, late = false;
};

struct Files {
    MemoryFile plan, output, errors;
};

// Runs the program with these files, until it ends, stop is requested or the time is over; `looked` is called from time
// to time until then.
Expected<Ended> run_program(const std::vector<std::string>& command, std::vector<std::string> environment,
    const Files& files, std::optional<double> timeout_s, const std::function<void()>& looked,
    const std::stop_token& stop)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, files.output.descriptor(), 1);
    posix_spawn_file_actions_adddup2(&actions, files.errors.descriptor(), 2);
    posix_spawn_file_actions_adddup2(&actions, files.plan.descriptor(), kPlanOfChild);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    std::vector<std::string> words = command;
    std::vector<char*> argv, envp;
    for (std::string& word : words)
        argv.push_back(word.data());
    for (std::string& entry : environment)
        envp.push_back(entry.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    pid_t pid = 0;
    const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return Problem{ProblemCode::io, std::string("cannot be started: ") + std::strerror(error), {}, command[0]};
    Ended ended;
    for (;;) {
        const pid_t done = waitpid(pid, &ended.status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR))
            return ended;
        const bool late = timeout_s && seconds_since(begin) > *timeout_s;
        if ((stop.stop_requested() || late) && !ended.stopped && !ended.late) {
            kill(pid, SIGKILL);
            (stop.stop_requested() ? ended.stopped : ended.late) = true;
        }
        if (looked)
            looked();
        poll(nullptr, 0, 20);
    }
}

// As the trainer runs it.
Expected<ResolvedPlan> for_trainer(ResolvedPlan plan)
{
    FOURFOLD_CHECK(hand_to_trainer(plan, Presets()));
    // No file is opened, and two steps are rehearsed of however many.
    if (plan.run.data.empty())
        plan.run.data.emplace_back().path = "nothing";
    if (!plan.run.steps && !plan.run.tokens)
        plan.run.steps = 2;
    auto reasons = check(plan);
    for (Reason& reason : trainer_limits(plan))
        reasons.push_back(std::move(reason));
    if (!reasons.empty())
        return Problem{ProblemCode::unsupported, reasons[0].field + ": " + reasons[0].message,
            "only what the bundled trainer runs can be rehearsed; nothing of this plan is proven", plan.where};
    return plan;
}

// What the planner says, beside what the trainer does.
void add_prediction(Json& rehearsal, const ResolvedPlan& plan)
{
    const Prediction prediction = predict(plan);
    rehearsal["planned_step_time_s"] = prediction.step_time_s ? Json(*prediction.step_time_s) : Json(nullptr);
    for (Json& stage : rehearsal["stages"]) {
        const auto pp = stage["pp"].get<std::size_t>();
        stage["planned_gib"]
            = pp < prediction.memory_by_stage.size() ? Json(prediction.memory_by_stage[pp].total()) : Json(nullptr);
    }
}

// The plan for the trainer, with the constants of its stack: a run has no use for them, the prices of a rehearsal are
// made of nothing else.
std::string with_constants(const ResolvedPlan& plan)
{
    Json json = to_json(plan, PresetStyle::inlined);
    json["stack"] = to_json(plan.stack);
    return json.dump() + "\n";
}

// The trainer's last whole line; null where there is none.
Json last_line(const std::filesystem::path& output)
{
    const auto text = read_text_file(output, kMostOutput);
    const std::size_t end = text ? text->rfind('\n') : std::string::npos;
    if (end == std::string::npos)
        return nullptr;
    const std::size_t before = end == 0 ? std::string::npos : text->rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const auto line = parse_json(text->substr(begin, end - begin), output.string());
    return line && line->is_object() ? *line : Json();
}

RehearsalProgress progress_from(const Json& line)
{
    if (!line.is_object())
        return {};
    return {line.value("rehearsed", std::size_t(0)), line.value("of", std::size_t(0)), line.value("reserved_gib", 0.0)};
}

// Tells of each new line of progress in that file, which has nothing else in it while the trainer works.
std::function<void()> progress_teller(
    const std::filesystem::path& output, const std::function<void(const RehearsalProgress&)>& told)
{
    if (!told)
        return {};
    return [&told, output, size = std::uintmax_t(0)]() mutable {
        std::error_code error;
        const std::uintmax_t now = std::filesystem::file_size(output, error);
        if (error || now == size || now > kMostProgress)
            return;
        size = now;
        if (const Json line = last_line(output); line.contains("of"))
            told(progress_from(line));
    };
}

Problem out_of_time(const RehearsalProgress& progress, double timeout_s, const std::string& where)
{
    std::string message = text_of("the rehearsal came to its time limit of %g s: ", timeout_s);
    if (progress.rehearsed == 0)
        message += "no rank was through";
    else
        message += text_of("%zu of %zu ranks were through, at most %.2f GiB reserved", progress.rehearsed, progress.of,
            progress.reserved_gib);
    return {ProblemCode::failed, message + "; whether ranks wait for each other is not proven",
        "give it more time with --timeout", where};
}

} // namespace

Expected<Json> rehearse_plan(const RehearsalRequest& request, const std::stop_token& stop)
{
    FOURFOLD_TRY(ResolvedPlan plan, for_trainer(request.plan));
    std::optional<double> imbalance = request.expert_imbalance;
    if (request.routing_quantile || imbalance) {
        if (!plan.model.experts || plan.layout.ep <= 1)
            return Problem{ProblemCode::bad_input, "has no expert parallelism: no routing changes what its ranks hold",
                "rehearse it without a routing", plan.where};
        if (!imbalance)
            imbalance = expert_imbalance_at(plan, *request.routing_quantile);
        plan = with_expert_imbalance(std::move(plan), *imbalance);
    }
    const auto trainer = request.trainer.empty() ? own_program("fourfold-trainer") : request.trainer;
    std::error_code error;
    if (!std::filesystem::is_regular_file(trainer, error))
        return Problem{ProblemCode::not_found, "the trainer program does not exist",
            "build it (packaging/run.sh does), or set FOURFOLD_TRAINER=ON in CMake", trainer.string()};
    TrainerLibraries libraries;
    if (auto found = trainer_libraries(trainer))
        libraries = std::move(*found);
    else if (found.error().code != ProblemCode::bad_input) // a script in front of a trainer finds them itself
        return found.error();
    FOURFOLD_TRY(MemoryFile written, MemoryFile::make("plan"));
    FOURFOLD_TRY(MemoryFile said, MemoryFile::make("output"));
    FOURFOLD_TRY(MemoryFile complained, MemoryFile::make("errors"));
    const Files files{std::move(written), std::move(said), std::move(complained)};
    FOURFOLD_CHECK(files.plan.write(with_constants(plan)));
    const std::string file = MemoryFile::path_of(kPlanOfChild).string();
    std::vector<std::string> command{trainer.string(), "--rehearse", file};
    if (request.timeline)
        command.emplace_back("--timeline");
    if (imbalance)
        command.insert(command.end(), {"--expert-imbalance", text_of("%.17g", *imbalance)});
    FOURFOLD_TRY(const Ended ended,
        run_program(command, environment_for(libraries), files, request.timeout_s,
            progress_teller(files.output.path(), request.told), stop));
    if (ended.stopped)
        return Problem{ProblemCode::cancelled, "the rehearsal was stopped; nothing is proven", {}, plan.where};
    Json last = last_line(files.output.path());
    if (last.contains("verdict")) {
        add_prediction(last, plan);
        if (imbalance)
            last["expert_imbalance"] = *imbalance;
        return last;
    }
    if (ended.late)
        return out_of_time(progress_from(last), *request.timeout_s, plan.where);
    const auto complaint = read_text_file(files.errors.path(), 1u << 20);
    std::string why = complaint ? complaint->substr(0, complaint->find('\n')) : std::string();
    if (const std::string place = file + ": "; why.starts_with(place)) // a file that nobody can look at
        why = why.substr(place.size());
    if (why.find("std::bad_alloc") != std::string::npos) // LibTorch's, before the trainer can say it
        return Problem{ProblemCode::failed, "the rehearsal may not have the memory that it needs; nothing is proven",
            "raise the limits of this session (ulimit -v) or end other programs", plan.where};
    if (why.empty() && WIFSIGNALED(ended.status))
        why = std::string("signal ") + strsignal(WTERMSIG(ended.status));
    return Problem{ProblemCode::failed,
        "the rehearsal ended without a verdict" + (why.empty() ? std::string() : ": " + why),
        "nothing of this plan is proven", plan.where};
}

} // namespace fourfold
