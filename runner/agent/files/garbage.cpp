// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/files/garbage.h"

#include "runner/agent/run/run_folder.h"
#include "runner/agent/system/sorted_entries.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>

namespace fourfold {

namespace {

// Seconds since the file was last written, or also read; negative when it is not there.
double age_of(const std::filesystem::path& file, bool reads_count)
{
    struct stat info { };
    if (lstat(file.c_str(), &info) != 0)
        return -1;
    return difftime(
        std::time(nullptr), reads_count ? std::max(info.st_mtim.tv_sec, info.st_atim.tv_sec) : info.st_mtim.tv_sec);
}
// Of what is read by looking at it, as a run's state.
double since_written(const std::filesystem::path& file)
{
    return age_of(file, false);
}
double since_used(const std::filesystem::path& file)
{
    return age_of(file, true);
}

uint64_t bytes_in(const std::filesystem::path& place)
{
    struct stat info { };
    if (lstat(place.c_str(), &info) != 0)
        return 0;
    uint64_t total = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
    std::error_code error;
    if (S_ISDIR(info.st_mode)) {
        for (const auto& entry : std::filesystem::directory_iterator(place, error))
            total += bytes_in(entry.path());
    }
    return total;
}

class Collector {
public:
    Collector(const std::filesystem::path& base, const GarbageOrder& order)
        : base_(base)
        , order_(order)
    {
    }

    void runs()
    {
        std::vector<std::filesystem::path> done;
        for (const auto& folder : sorted_entries(base_ / "runs")) {
            if (!is_run_id(folder.filename().string()))
                continue;
            if (is_done(folder))
                done.push_back(folder);
            else
                keep(folder);
        }
        // A restart saves where the attempt before it did; what is kept for one may in turn need another's.
        for (bool more = true; more;) {
            const auto needed = std::partition(
                done.begin(), done.end(), [this](const auto& folder) { return !used_.contains(folder.string()); });
            std::for_each(needed, done.end(), [this](const auto& folder) { keep(folder); });
            more = needed != done.end();
            done.erase(needed, done.end());
        }
        for (const auto& folder : done) {
            ++runs_;
            remove(folder);
        }
    }
    void store()
    {
        for (const auto& file : sorted_entries(base_ / "store")) {
            if (used_.contains(file.string()) || since_used(file) < order_.older_than_s || is_being_written(file))
                continue;
            ++files_;
            remove(file);
        }
    }
    void agents(const std::filesystem::path& own)
    {
        for (const auto& folder : sorted_entries(base_ / "agent")) {
            if (own.parent_path() == folder || since_used(folder / "fourfold-agent") < order_.older_than_s)
                continue;
            ++agents_;
            remove(folder);
        }
    }
    [[nodiscard]] Json result() const
    {
        return {{"runs", runs_}, {"files", files_}, {"agents", agents_}, {"bytes", bytes_}, {"kept_runs", kept_}};
    }

private:
    // All shares of the run that are here have ended and a client has seen that, or it was never started.
    [[nodiscard]] bool is_done(const std::filesystem::path& folder) const
    {
        const std::string run = folder.filename().string();
        const std::vector<int> shares = shares_of(base_, run);
        if (shares.empty())
            return is_of_a_launch(folder) && is_old_and_free(folder, folder);
        // Who follows a Slurm job reads the first node's events only.
        const bool first_followed = since_written(RunFolder(base_, run, 0).file("followed")) >= 0;
        return std::all_of(shares.begin(), shares.end(), [&](int node) {
            const RunFolder share(base_, run, node);
            const auto read = share.verdict();
            const std::string verdict = read ? *read : "unknown";
            if (verdict == "prepared" && since_written(share.file("events.jsonl")) < 0)
                return is_old_and_free(share.path(), share.file("spec.json"));
            return verdict == "ended" && since_written(share.file("status.json")) >= order_.older_than_s
                && (first_followed || since_written(share.file("followed")) >= 0);
        });
    }
    // A launch begins with a lock, its own or that of a further node's share. Other files are somebody else's.
    [[nodiscard]] static bool is_of_a_launch(const std::filesystem::path& folder)
    {
        const auto entries = sorted_entries(folder);
        return entries.empty() || std::any_of(entries.begin(), entries.end(), [](const std::filesystem::path& entry) {
            return entry.filename() == "lock" || entry.filename().string().starts_with("node");
        });
    }
    // What was begun, and nobody is at it any more.
    [[nodiscard]] bool is_old_and_free(const std::filesystem::path& share, const std::filesystem::path& mark) const
    {
        const auto entries = sorted_entries(share);
        return since_written(mark) >= order_.older_than_s && !is_being_written(share / "lock")
            && std::none_of(entries.begin(), entries.end(),
                [](const std::filesystem::path& entry) { return is_being_written(entry / "lock"); });
    }
    void keep(const std::filesystem::path& folder)
    {
        ++kept_;
        remember_links(folder);
        const std::string run = folder.filename().string();
        for (const int node : shares_of(base_, run)) {
            const auto spec = RunFolder(base_, run, node).read_spec();
            const Json none, &settings = spec ? object_field(object_field(spec->plan, "run"), "checkpoint") : none;
            for (const char* key : {"path", "load"})
                remember_run_of(text_field(settings, key));
        }
    }
    // The run whose folder the path leads into.
    void remember_run_of(const std::filesystem::path& path)
    {
        std::error_code error;
        const auto inside = path.is_absolute()
            ? std::filesystem::weakly_canonical(path, error)
                  .lexically_relative(std::filesystem::weakly_canonical(base_ / "runs", error))
            : std::filesystem::path();
        if (!error && !inside.empty() && is_run_id(inside.begin()->string()))
            used_.insert((base_ / "runs" / *inside.begin()).string());
    }
    void remember_links(const std::filesystem::path& folder)
    {
        std::error_code error;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
            if (entry.is_symlink(error))
                used_.insert(std::filesystem::read_symlink(entry.path(), error).string());
        }
    }
    static bool is_being_written(const std::filesystem::path& file)
    {
        const auto fd = open_file(file, O_RDONLY);
        return fd && flock(fd->get(), LOCK_SH | LOCK_NB) != 0;
    }
    void remove(const std::filesystem::path& place)
    {
        bytes_ += bytes_in(place);
        std::error_code error;
        if (!order_.dry_run)
            std::filesystem::remove_all(place, error); // links are removed, not followed
    }

    const std::filesystem::path& base_;
    const GarbageOrder& order_;
    std::set<std::string> used_;
    int runs_ = 0, kept_ = 0, files_ = 0, agents_ = 0;
    uint64_t bytes_ = 0;
};

} // namespace

Json collect_garbage(
    const std::filesystem::path& base, const GarbageOrder& order, const std::filesystem::path& own_agent)
{
    Collector collector(base, order);
    collector.runs();
    collector.store();
    collector.agents(own_agent);
    return collector.result();
}

} // namespace fourfold
