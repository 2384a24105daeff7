// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/run/run_folder.h"

#include "core/base/input_file.h"
#include "core/history/event_types.h"
#include "runner/protocol/distrust.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace fourfold {

namespace {
constexpr double kSilentSeconds = 60; // clocks of a cluster may differ by some

std::string own_host_name()
{
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

// Only what the system says to be missing is missing.
Expected<bool> is_there(const std::filesystem::path& file)
{
    struct stat info { };
    if (stat(file.c_str(), &info) == 0)
        return true;
    if (errno == ENOENT)
        return false;
    const int error = errno;
    return Problem{ProblemCode::io, std::string("the run folder cannot be read: ") + std::strerror(error), {},
        file.parent_path().string()};
}

// A file of ours; a link in its place leads elsewhere.
Expected<Json> read_own(const std::filesystem::path& file, std::size_t max_bytes = 64u << 20)
{
    FOURFOLD_TRY(const FileDescriptor fd, open_file(file, O_RDONLY));
    FOURFOLD_TRY(const std::string text, read_to_end(fd.get(), file, max_bytes));
    return parse_json(text, file.string());
}

double now_s()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}
} // namespace

Expected<std::filesystem::path> checked_base(const std::string& base, const GroupFolders& group_writable)
{
    std::string path = base;
    const char* home = std::getenv("HOME");
    if (path.empty())
        path = "~/.local/share/fourfold/node";
    if (path.starts_with("~/")) {
        if (!home || home[0] != '/')
            return Problem{
                ProblemCode::io, "HOME is not set on the node", "give the target an absolute base_folder", {}};
        path = std::string(home) + path.substr(1);
    }
    if (path[0] != '/')
        return Problem{ProblemCode::bad_input, "the base folder \"" + path + "\" is not absolute",
            "begin it with / or ~/", "base_folder"};
    const std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
    FOURFOLD_TRY(const FileDescriptor opened, open_trusted_folder(folder, group_writable, true));
    struct stat info { };
    if (fstat(opened.get(), &info) != 0)
        return errno_problem("the base folder cannot be used", folder);
    if (info.st_uid != geteuid())
        return distrust("owner", folder.string());
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return distrust("others", folder.string());
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return errno_problem("the base folder cannot be written", folder);
    // What somebody else may have put there while the folder was open to them, and may still hold.
    for (const char* name : {"agent", "runs", "store"})
        FOURFOLD_CHECK(make_trusted_folders(folder, name));
    return folder;
}

RunFolder::RunFolder(const std::filesystem::path& base, const std::string& run, int node)
    : base_(base)
    , path_(base / "runs" / run_folder_name(run, node))
{
}

Json to_json(const StopRequest& request)
{
    return {{"status", name(request.status)}, {"why", request.why}, {"error", request.error},
        {"grace_s", request.grace_s}, {"saves", request.saves}};
}

StopRequest stop_request_from_json(const Json& json)
{
    StopRequest request;
    request.status = run_state(text_field(json, "status", std::string(name(request.status))));
    request.why = text_field(json, "why");
    if (const Json& error = object_field(json, "error"); !error.empty())
        request.error = error;
    request.grace_s = std::clamp(number_field(json, "grace_s", 2), 0.0, 600.0);
    request.saves = flag_field(json, "saves");
    return request;
}

Expected<bool> RunFolder::exists() const
{
    return is_there(file("spec.json"));
}

std::vector<int> shares_of(const std::filesystem::path& base, const std::string& run)
{
    std::vector<int> out;
    const auto has_share = [&](int node) {
        const auto exists = RunFolder(base, run, node).exists();
        return exists && *exists;
    };
    if (has_share(0))
        out.push_back(0);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(RunFolder(base, run, 0).path(), error)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("node") || name.size() > 9
            || !std::all_of(name.begin() + 4, name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            continue;
        const int node = std::atoi(name.c_str() + 4);
        if (node > 0 && has_share(node))
            out.push_back(node);
    }
    std::sort(out.begin(), out.end());
    return out;
}

Expected<void> RunFolder::create() const
{
    return make_trusted_folders(base_, path_.lexically_relative(base_));
}

bool RunFolder::is_removed(int events, dev_t disk) const
{
    struct stat info { };
    if (fstat(events, &info) == 0 && info.st_nlink == 0)
        return true;
    if (stat(path_.c_str(), &info) == 0 || errno != ENOENT)
        return false;
    std::filesystem::path above = path_.parent_path();
    while (stat(above.c_str(), &info) != 0 && errno == ENOENT && above.has_relative_path())
        above = above.parent_path();
    return info.st_dev == disk;
}

Expected<FileDescriptor> RunFolder::lock() const
{
    FOURFOLD_TRY(FileDescriptor fd, open_file(file("lock"), O_RDWR | O_CREAT));
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return Problem{ProblemCode::refused, "this run is held by another agent",
                "use `fourfold attach` to follow it", path_.string()};
        return errno_problem("cannot be locked", file("lock"));
    }
    return fd;
}

Expected<void> RunFolder::write_spec(const RunSpec& spec) const
{
    FOURFOLD_CHECK(write_file_atomically(file("plan.json"), to_wire(spec.plan) + "\n"));
    return write_file_atomically(file("spec.json"), to_wire(to_json(spec)) + "\n");
}

Expected<RunSpec> RunFolder::read_spec() const
{
    FOURFOLD_TRY(const Json json, read_own(file("spec.json")));
    return run_spec_from_json(json);
}

Expected<void> RunFolder::write_status(const RunStatus& status) const
{
    const std::string text = to_wire({{"state", status.state}, {"status", status.status}, {"why", status.why},
                                 {"pid", status.supervisor.pid}, {"start_time", status.supervisor.start_time},
                                 {"boot_id", status.supervisor.boot_id}, {"host", own_host_name()}, {"time", utc_now()},
                                 {"time_s", now_s()}, {"rank", status.rank}, {"events", status.events}})
        + "\n";
    const auto temporary = file("status.json.new");
    FOURFOLD_TRY(const FileDescriptor fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    if (!write_fully(fd.get(), text) || rename(temporary.c_str(), file("status.json").c_str()) != 0)
        return errno_problem("cannot be written", file("status.json"));
    return {};
}

Expected<std::optional<RunStatus>> RunFolder::read_status() const
{
    struct stat info { };
    if (lstat(file("status.json").c_str(), &info) == 0 ? !S_ISREG(info.st_mode) : errno == ENOENT)
        return std::optional<RunStatus>();
    const auto json = read_own(file("status.json"), 1u << 20);
    if (!json && json.error().code == ProblemCode::io)
        return json.error();
    if (!json)
        return std::optional<RunStatus>();
    RunStatus status{text_field(*json, "state"), text_field(*json, "status"), text_field(*json, "why"), {},
        text_field(*json, "host"), number_field(*json, "time_s"), static_cast<int>(integer_field(*json, "rank", -1)),
        integer_field(*json, "events")};
    status.supervisor = {static_cast<pid_t>(integer_field(*json, "pid")), integer_field(*json, "start_time"),
        text_field(*json, "boot_id")};
    return std::optional(status);
}

Expected<void> RunFolder::write_stop(const StopRequest& request) const
{
    return write_file_atomically(file("stop.json"), to_wire(to_json(request)));
}

std::optional<StopRequest> RunFolder::read_stop() const
{
    if (access(file("stop.json").c_str(), F_OK) != 0)
        return {};
    const auto json = read_own(file("stop.json"), 1u << 20);
    return json ? stop_request_from_json(*json) : StopRequest(); // whatever it says, somebody wants the run to stop
}

std::string RunFolder::slurm_job() const
{
    // Nodes share the first node's.
    const auto first = path_.filename().string().starts_with("node") ? path_.parent_path() : path_;
    const auto json = read_own(first / "slurm/job.json", 1u << 16);
    return json ? text_field(*json, "job") : std::string();
}

std::optional<RunStatus> RunFolder::read_end() const
{
    constexpr off_t kMost = 256 << 10; // more than an `end` has; nothing follows it
    const auto fd = open_file(file("events.jsonl"), O_RDONLY);
    struct stat info { };
    if (!fd || fstat(fd->get(), &info) != 0)
        return {};
    std::string text(static_cast<std::size_t>(std::min(info.st_size, kMost)), '\0');
    if (pread(fd->get(), text.data(), text.size(), info.st_size - off_t(text.size())) != ssize_t(text.size()))
        return {};
    for (std::size_t end = text.rfind('\n'); end != std::string::npos && end > 0;) {
        const std::size_t before = text.rfind('\n', end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        if (const auto event = parse_json(std::string_view(text).substr(begin, end - begin), "event");
            event && kind_of(*event) == EventKind::end) {
            EndEvent found = read_event<EndEvent>(*event);
            return RunStatus{"ended", std::move(found.status), std::move(found.message), {}, {}, 0,
                static_cast<int>(integer_field(*event, "rank", -1))};
        }
        end = before;
    }
    return {};
}

Expected<FolderLook> RunFolder::look() const
{
    FOURFOLD_TRY(const bool there, exists());
    if (!there)
        return FolderLook{"absent", {}};
    FOURFOLD_TRY(const auto status, read_status());
    FolderLook out{"lost-agent", status.value_or(RunStatus())};
    const bool ended = out.status.state == "ended", queued = !slurm_job().empty();
    if (status && !ended && queued && status->host != own_host_name()) {
        out.state = std::abs(now_s() - status->time_s) < kSilentSeconds ? status->state : "silent";
        if (out.state != "silent")
            return out;
    } else if (status && !ended) {
        out.state = is_alive(status->supervisor)      ? status->state
            : status->supervisor.boot_id == boot_id() ? "lost-agent"
                                                      : "lost-reboot";
        if (out.state == status->state)
            return out;
    } else if (struct stat info{}; lstat(file("status.json").c_str(), &info) != 0) {
        out.state = queued ? "queued" : "prepared";
    } else if (queued) {
        out.state = "silent";
    }
    if (auto end = read_end())
        return FolderLook{"ended", std::move(*end)};
    if (ended && out.status.events > 0)
        out.state = "ended";
    return out;
}

Expected<std::string> RunFolder::verdict() const
{
    FOURFOLD_TRY(FolderLook out, look());
    return std::move(out.state);
}

} // namespace fourfold
