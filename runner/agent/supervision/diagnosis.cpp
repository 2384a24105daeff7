// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/diagnosis.h"

#include "runner/agent/system/file_descriptor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace fourfold {

namespace {

constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kMostStack = 16384;
constexpr int kWaitForStacks = 50; // times 10 ms

std::string field_of_status(pid_t pid, const std::string& key)
{
    std::istringstream lines(slurp("/proc/" + std::to_string(pid) + "/status"));
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(key + ":")) {
            const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
            return begin == std::string::npos ? std::string() : line.substr(begin);
        }
    }
    return {};
}

// A signal without a handler would end the process.
bool catches(pid_t pid, int signal)
{
    const std::string mask = field_of_status(pid, "SigCgt");
    return !mask.empty() && ((std::strtoull(mask.c_str(), nullptr, 16) >> (signal - 1)) & 1u) != 0;
}

std::string line_of(const std::filesystem::path& file)
{
    std::string text = slurp(file, 4096);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

Json threads_of(pid_t pid)
{
    Json out = Json::array();
    std::error_code error;
    const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (out.size() >= kMostThreads)
            break;
        const std::string stat = slurp(entry.path() / "stat", 4096);
        const std::size_t at = stat.rfind(')');
        const std::string waits = line_of(entry.path() / "wchan");
        out.push_back({{"name", line_of(entry.path() / "comm")},
            {"state", at != std::string::npos && at + 2 < stat.size() ? stat.substr(at + 2, 1) : "?"},
            {"waits_in", waits == "0" ? "" : waits}});
    }
    return out;
}

std::filesystem::path stack_file(const std::filesystem::path& folder, int rank)
{
    return folder / ("rank" + std::to_string(rank) + ".stack");
}

Expected<FileDescriptor> open_page(const std::filesystem::path& folder, int rank)
{
    return open_file(progress_file(folder, rank), O_RDONLY | O_NONBLOCK);
}

// The page as bytes; the writer may be in the middle of a change.
struct PageCopy {
    uint64_t magic, version, number, group_number, inside;
    double since_s;
    char operation[200], group[200];
    uint64_t failure_origin;
    char failure_kind[16], failure_message[1024];
};
static_assert(sizeof(PageCopy) == sizeof(ProgressPage));

std::optional<PageCopy> copy_of(const FileDescriptor& file)
{
    PageCopy copy{};
    if (pread(file.get(), &copy, sizeof copy, 0) != ssize_t(sizeof copy) || copy.magic != ProgressPage::kMagic)
        return {};
    return copy;
}

template <std::size_t N>
std::string chars_of(const char (&text)[N])
{
    return {text, strnlen(text, N)};
}

} // namespace

std::filesystem::path progress_file(const std::filesystem::path& folder, int rank)
{
    return folder / ("rank" + std::to_string(rank) + ".progress");
}

std::optional<RankProgress> read_progress(const std::filesystem::path& folder, int rank)
{
    const auto file = open_page(folder, rank);
    if (!file)
        return {};
    for (int attempt = 0; attempt < 5; ++attempt) {
        const auto first = copy_of(*file), second = copy_of(*file);
        if (!first || !second)
            return {};
        if (first->version != second->version || first->version % 2 != 0)
            continue;
        return RankProgress{first->number, first->group_number, first->inside != 0, first->since_s,
            chars_of(first->operation), chars_of(first->group)};
    }
    return {};
}

std::optional<RankFailure> read_failure(const std::filesystem::path& folder, int rank)
{
    const auto file = open_page(folder, rank);
    const auto page = file ? copy_of(*file) : std::nullopt;
    if (!page || page->failure_origin == 0 || page->failure_origin >= std::size(kFailureOrigins))
        return {};
    return RankFailure{static_cast<FailureOrigin>(page->failure_origin), chars_of(page->failure_kind),
        chars_of(page->failure_message)};
}

std::string last_collective(const RankProgress& progress)
{
    const auto millis = static_cast<int64_t>(std::max(0.0, progress_clock() - progress.since_s) * 1000);
    return progress.operation + " (operation " + std::to_string(progress.number) + ", "
        + (progress.inside ? "begun " : "finished ") + std::to_string(millis) + " ms before)";
}

uint64_t bytes_moved(pid_t pid)
{
    uint64_t total = 0;
    std::istringstream words(slurp("/proc/" + std::to_string(pid) + "/io", 4096));
    for (std::string key, value; words >> key >> value;) {
        if (key == "rchar:" || key == "wchar:")
            total += std::strtoull(value.c_str(), nullptr, 10);
    }
    return total;
}

Json diagnose(const RunSpec& spec, const std::filesystem::path& folder, const std::map<pid_t, RankPlace>& running)
{
    std::map<pid_t, off_t> asked; // where the rank's answer begins
    for (const auto& [pid, place] : running) {
        if (!catches(pid, SIGUSR1))
            continue;
        struct stat info { };
        asked[pid] = stat(stack_file(folder, place.rank).c_str(), &info) == 0 ? info.st_size : 0;
        kill(pid, SIGUSR1);
    }
    const auto answered = [&](const auto& entry) {
        struct stat info { };
        return stat(stack_file(folder, running.at(entry.first).rank).c_str(), &info) == 0
            && info.st_size > entry.second;
    };
    for (int i = 0; i < kWaitForStacks && !std::all_of(asked.begin(), asked.end(), answered); ++i)
        usleep(10000);
    if (!asked.empty())
        usleep(20000); // the last lines
    Json out = Json::array();
    for (const auto& [pid, place] : running) {
        Json rank = {{"rank", place.rank}, {"host", spec.host}, {"coordinates", place.coordinates},
            {"process", field_of_status(pid, "State").substr(0, 1)}};
        if (const auto progress = read_progress(folder, place.rank)) {
            rank["number"] = progress->number;
            rank["group_number"] = progress->group_number;
            rank["inside"] = progress->inside;
            rank["since_s"] = std::max(0.0, progress_clock() - progress->since_s);
            rank["operation"] = progress->operation;
            rank["group"] = progress->group;
        }
        rank["threads"] = threads_of(pid);
        std::string stack;
        if (const auto at = asked.find(pid); at != asked.end()) {
            stack = slurp(stack_file(folder, place.rank), 4u << 20);
            stack = stack.size() > static_cast<std::size_t>(at->second)
                ? stack.substr(static_cast<std::size_t>(at->second), kMostStack)
                : std::string();
        }
        rank["stack"] = std::move(stack);
        out.push_back(std::move(rank));
    }
    return out;
}

} // namespace fourfold
