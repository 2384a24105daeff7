// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/queue/run_queue.h"

#include "core/base/json_fields.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace fourfold {

namespace {

constexpr int kFormat = 1; // of the file
constexpr std::size_t kMostEnded = 100; // of them older ones are forgotten
constexpr const char* kFile = "queue.json";
constexpr std::chrono::seconds kPatience(10);

Problem io_problem(const std::string& what, const std::filesystem::path& file)
{
    return {ProblemCode::io, what + ": " + std::strerror(errno), {}, file.string()};
}

// The descriptor with its lock; not valid where `operation` has LOCK_NB and another program has the lock. Nobody keeps
// the queue's own lock for longer than it takes to write a file: who does, sleeps, and is not waited for without end.
Expected<FileDescriptor> locked(const std::filesystem::path& file, int operation)
{
    FileDescriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!descriptor.valid())
        return io_problem("the lock of the queue cannot be opened", file);
    for (const auto begin = std::chrono::steady_clock::now();;) {
        if (::flock(descriptor.get(), operation | LOCK_NB) == 0)
            return descriptor;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return io_problem("the queue cannot be locked", file);
        if ((operation & LOCK_NB) != 0)
            return FileDescriptor();
        if (std::chrono::steady_clock::now() - begin > kPatience)
            return Problem{ProblemCode::io,
                "another program has kept the queue locked for " + std::to_string(kPatience.count()) + " s",
                "see whether one is stopped (`fuser " + file.string() + "` names it)", file.string()};
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

Json to_json(const QueuedRun& run)
{
    return {{"number", run.number}, {"state", to_text(run.state)}, {"added", run.added}, {"plan", run.plan},
        {"where", run.where}, {"target", to_json(run.target)}, {"steps", run.steps ? Json(*run.steps) : Json()},
        {"restarts", run.restarts}, {"rehearse", run.rehearse}, {"trainer", run.trainer.string()},
        {"agent", run.agent.string()}, {"waits_for", run.waits_for}, {"run", run.run}, {"begun", run.begun},
        {"outcome", run.outcome}, {"problem", run.problem}};
}

Expected<QueuedRun> queued_run(const Fields& fields)
{
    QueuedRun run;
    FOURFOLD_TRY(run.number, fields.integer("number"));
    FOURFOLD_TRY(run.state, fields.word_or("state", TurnState::waiting));
    FOURFOLD_TRY(run.added, fields.name_or("added", ""));
    FOURFOLD_TRY(const Fields plan, fields.object("plan"));
    run.plan = plan.json();
    FOURFOLD_TRY(run.where, fields.text_or("where", ""));
    FOURFOLD_TRY(const Fields target, fields.object("target"));
    FOURFOLD_TRY(run.target, target_from_json(target.json(), target.where()));
    if (fields.has("steps")) {
        FOURFOLD_TRY(run.steps, fields.small_integer("steps"));
    }
    FOURFOLD_TRY(run.restarts, fields.small_integer_or("restarts", 0, 0));
    FOURFOLD_TRY(run.rehearse, fields.boolean_or("rehearse", true));
    FOURFOLD_TRY(run.trainer, fields.text_or("trainer", ""));
    FOURFOLD_TRY(run.agent, fields.text_or("agent", ""));
    FOURFOLD_TRY(run.waits_for, fields.name_or("waits_for", ""));
    FOURFOLD_TRY(run.run, fields.name_or("run", ""));
    FOURFOLD_TRY(run.begun, fields.small_integer_or("begun", run.run.empty() ? 0 : 1, 0));
    FOURFOLD_TRY(run.outcome, fields.name_or("outcome", ""));
    FOURFOLD_TRY(run.problem, fields.name_or("problem", ""));
    return run;
}

Expected<QueueContents> read_contents(const std::filesystem::path& file)
{
    QueueContents contents;
    std::error_code error;
    if (!std::filesystem::exists(file, error) && !error)
        return contents;
    FOURFOLD_TRY(const Json json, read_json_file(file));
    FOURFOLD_TRY(const Fields fields, Fields::of(json, file.string()));
    FOURFOLD_TRY(const auto format, fields.integer("format"));
    if (format > kFormat)
        return fields.problem(
            "format", "the queue was written by a newer Fourfold", "use that one, or move the file away");
    FOURFOLD_TRY(contents.last_number, fields.integer_or("last_number", 0, 0));
    FOURFOLD_TRY(contents.paused, fields.boolean_or("paused", false));
    // What is no list is no empty one: the next change would write it over.
    if (const auto runs = json.find("runs"); runs == json.end())
        return fields.missing("runs", "a list");
    else if (!runs->is_array())
        return fields.wrong("runs", "a list");
    for (const Json& item : array_field(json, "runs")) {
        const std::string where = file.string() + ": runs[" + std::to_string(contents.runs.size()) + "]";
        FOURFOLD_TRY(const Fields entry, Fields::of(item, where));
        FOURFOLD_TRY(QueuedRun run, queued_run(entry));
        if (contents.find(run.number) != nullptr)
            return entry.problem("number", std::to_string(run.number) + " is another run's, too");
        contents.last_number = std::max(contents.last_number, run.number);
        contents.runs.push_back(std::move(run));
    }
    return contents;
}

void forget_old(QueueContents& contents)
{
    const auto ended = [](const QueuedRun& run) { return run.state == TurnState::ended; };
    auto surplus
        = std::count_if(contents.runs.begin(), contents.runs.end(), ended) - static_cast<std::ptrdiff_t>(kMostEnded);
    std::erase_if(contents.runs, [&](const QueuedRun& run) { return ended(run) && surplus-- > 0; });
}

Expected<QueuedRun*> find(QueueContents& contents, std::int64_t number)
{
    if (QueuedRun* run = contents.find(number))
        return run;
    return Problem{ProblemCode::not_found, "the queue has no run " + std::to_string(number),
        "`fourfold queue` lists what it has", {}};
}

} // namespace

std::string QueuedRun::name() const
{
    return text_field(plan, "name", "(no name)");
}

QueuedRun* QueueContents::find(std::int64_t number)
{
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const QueuedRun& run) { return run.number == number; });
    return at == runs.end() ? nullptr : &*at;
}

std::vector<std::string> hosts_of(const Target& target)
{
    if (target.kind == TargetKind::slurm)
        return {};
    if (target.kind == TargetKind::local)
        return {"local"};
    std::vector<std::string> hosts;
    for (const TargetHost& host : target.hosts) // whoever logs in, it is the same machine
        hosts.push_back(host.address + ":" + std::to_string(host.port == 0 ? 22 : host.port));
    return hosts;
}

bool share_a_host(const Target& one, const Target& other)
{
    const std::vector<std::string> theirs = hosts_of(other);
    const std::vector<std::string> ours = hosts_of(one);
    return std::any_of(ours.begin(), ours.end(),
        [&](const std::string& host) { return std::find(theirs.begin(), theirs.end(), host) != theirs.end(); });
}

const QueuedRun* next_turn(const QueueContents& contents)
{
    if (contents.paused)
        return nullptr;
    const auto& runs = contents.runs;
    for (auto run = runs.begin(); run != runs.end(); ++run) {
        if (run->state != TurnState::waiting)
            continue;
        const auto in_the_way = [&](const QueuedRun& other) {
            const bool before = other.state == TurnState::waiting && &other < &*run;
            return (before || other.state == TurnState::taken) && share_a_host(other.target, run->target);
        };
        if (std::none_of(runs.begin(), runs.end(), in_the_way))
            return &*run;
    }
    return nullptr;
}

RunQueue::RunQueue(std::filesystem::path folder)
    : folder_(std::move(folder))
{
}

std::filesystem::path RunQueue::default_folder()
{
    return data_folder() / "queue";
}

// Without the lock: the file is exchanged whole.
Expected<QueueContents> RunQueue::read() const
{
    return read_contents(folder_ / kFile);
}

std::string RunQueue::stamp() const
{
    struct stat info { };
    if (::stat((folder_ / kFile).c_str(), &info) != 0)
        return {};
    std::string text;
    for (const std::int64_t part : {std::int64_t(info.st_dev), std::int64_t(info.st_ino), std::int64_t(info.st_size),
             std::int64_t(info.st_mtim.tv_sec), std::int64_t(info.st_mtim.tv_nsec)})
        text += std::to_string(part) + ' ';
    return text;
}

Expected<void> RunQueue::change(const std::function<Expected<void>(QueueContents&)>& edit) const
{
    if (const std::error_code error = make_private_folders(folder_))
        return Problem{ProblemCode::io, "the queue's folder cannot be made: " + error.message(), {}, folder_.string()};
    FOURFOLD_TRY(const FileDescriptor lock, locked(folder_ / "lock", LOCK_EX));
    FOURFOLD_TRY(QueueContents contents, read_contents(folder_ / kFile));
    FOURFOLD_CHECK(edit(contents));
    forget_old(contents);
    Json runs = Json::array();
    for (const QueuedRun& run : contents.runs)
        runs.push_back(to_json(run));
    return write_file_atomically(folder_ / kFile,
        to_wire({{"format", kFormat}, {"last_number", contents.last_number}, {"paused", contents.paused},
            {"runs", std::move(runs)}})
            + "\n");
}

Expected<std::int64_t> RunQueue::add(const RunRequest& request) const
{
    // Whoever starts it then has another environment, and a file is no place for them.
    if (!request.target.secrets.empty())
        return Problem{ProblemCode::bad_input,
            "its runs need the secret " + in_quotes(request.target.secrets.front())
                + " of who starts them, and nobody is there when the turn of a queued run comes",
            "start it without the queue, or let the target's prelude read the secret from a file of the node",
            "target " + request.target.id};
    QueuedRun run;
    run.added = utc_now();
    run.plan = fourfold::to_json(request.plan, PresetStyle::inlined);
    if (!request.plan.compile_chosen) // nor will it be when it is read again
        run.plan["training"].erase("compile");
    std::error_code error; // a relative one means nothing to who starts it
    const auto file = std::filesystem::absolute(request.plan.where, error);
    run.where = !error && std::filesystem::exists(file, error) ? file.string() : request.plan.where;
    run.target = request.target;
    run.steps = request.steps;
    run.restarts = request.restarts;
    run.rehearse = request.rehearse;
    run.trainer = request.trainer;
    run.agent = request.agent;
    FOURFOLD_CHECK(change([&](QueueContents& contents) -> Expected<void> {
        run.number = ++contents.last_number;
        contents.runs.push_back(run);
        return {};
    }));
    return run.number;
}

Expected<void> RunQueue::remove(std::int64_t number) const
{
    return change([&](QueueContents& contents) -> Expected<void> {
        FOURFOLD_TRY(const QueuedRun* const run, find(contents, number));
        if (run->state == TurnState::taken && !run->run.empty())
            return Problem{ProblemCode::refused, "run " + std::to_string(number) + " of the queue goes on",
                "`fourfold stop " + run->run + "` ends it", {}};
        contents.runs.erase(contents.runs.begin() + (run - contents.runs.data()));
        return {};
    });
}

Expected<void> RunQueue::move(std::int64_t number, int place) const
{
    return change([&](QueueContents& contents) -> Expected<void> {
        FOURFOLD_TRY(const QueuedRun* const found, find(contents, number));
        if (found->state != TurnState::waiting)
            return Problem{
                ProblemCode::refused, "run " + std::to_string(number) + " of the queue does not wait any more", {}, {}};
        QueuedRun run = *found;
        contents.runs.erase(contents.runs.begin() + (found - contents.runs.data()));
        auto at = contents.runs.begin();
        for (int before = 1; at != contents.runs.end(); ++at) {
            if (at->state == TurnState::waiting && before++ >= place)
                break;
        }
        contents.runs.insert(at, std::move(run));
        return {};
    });
}

Expected<void> RunQueue::set_paused(bool paused) const
{
    return change([&](QueueContents& contents) -> Expected<void> {
        contents.paused = paused;
        return {};
    });
}

Expected<int> RunQueue::clear() const
{
    int count = 0;
    FOURFOLD_CHECK(change([&](QueueContents& contents) -> Expected<void> {
        count = static_cast<int>(
            std::erase_if(contents.runs, [](const QueuedRun& run) { return run.state == TurnState::ended; }));
        return {};
    }));
    return count;
}

Expected<FileDescriptor> RunQueue::take(const std::string& what) const
{
    // Under the queue's own lock, so that nobody's look at it is taken for its holder.
    FOURFOLD_TRY(const FileDescriptor lock, locked(folder_ / "lock", LOCK_EX));
    return locked(folder_ / (what + ".lock"), LOCK_EX | LOCK_NB);
}

bool RunQueue::is_taken(const std::string& what) const
{
    const auto lock = locked(folder_ / "lock", LOCK_EX);
    std::error_code error;
    if (!lock || !std::filesystem::exists(folder_ / (what + ".lock"), error))
        return false;
    const auto held = locked(folder_ / (what + ".lock"), LOCK_EX | LOCK_NB);
    return held && !held->valid();
}

} // namespace fourfold
