// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/node_causes.h"

#include "core/history/run_state.h"
#include "runner/agent/ranks/rank_process.h"
#include "runner/agent/system/file_descriptor.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace fourfold {

namespace {

constexpr uint64_t kNoRoom = 64u << 10; // bytes free that are as good as none
constexpr unsigned long kFewInodes = 8; // a start makes some files at once, and a file is replaced by a new one

// How often the kernel has killed for want of memory since it was started; -1 when it does not say.
long long kernel_oom_kills()
{
    const std::string text = slurp("/proc/vmstat");
    const std::size_t at = text.find("\noom_kill ");
    return at == std::string::npos ? -1 : atoll(text.c_str() + at + 10);
}

// What a program says that had no memory left to say more: before it has begun (libraries, their global objects), or in
// a thread that is not its own. Empty: it does not.
std::string words_of_no_memory(const std::filesystem::path& log)
{
    for (const Json& line : last_log_lines(log, 3)) {
        const std::string text = line.get<std::string>();
        for (const char* words : {"std::bad_alloc", "annot allocate memory"}) {
            if (text.find(words) != std::string::npos)
                return text;
        }
        if (text.ends_with("failed to map segment from shared object")) // another reason would follow
            return text;
    }
    return {};
}

// The kernel ends a process that has used so much of a processor, without another word; ranks of this node share it
// with whoever started them.
std::string words_of_cpu_limit(int signal)
{
    rlimit cpu{};
    rusage used{};
    if ((signal != SIGKILL && signal != SIGXCPU) || ::getrlimit(RLIMIT_CPU, &cpu) != 0 || cpu.rlim_cur == RLIM_INFINITY
        || ::getrusage(RUSAGE_CHILDREN, &used) != 0
        || rlim_t(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1 < cpu.rlim_cur)
        return {};
    return ": a process of this session may use " + std::to_string(cpu.rlim_cur)
        + " s of a processor (ulimit -t): raise the limit";
}

} // namespace

NodeCauses::NodeCauses(std::filesystem::path folder)
    : folder_(std::move(folder))
    , oom_kills_before_(kernel_oom_kills())
{
}

void NodeCauses::explain(Culprit& culprit, const std::filesystem::path& log) const
{
    std::string& what = culprit.message;
    if (what.empty()) {
        what = describe_exit(culprit.wait_status);
        const std::string said = words_of_no_memory(log);
        if (!said.empty() && (culprit.evidence == Evidence::exit || WTERMSIG(culprit.wait_status) == SIGABRT)) {
            culprit.kind = name(RunState::oom);
            what += ": it may not have the memory that it asked for (" + said + ")";
        }
    }
    if (culprit.evidence == Evidence::signal && WTERMSIG(culprit.wait_status) == SIGKILL && oom_kills_before_ >= 0
        && kernel_oom_kills() > oom_kills_before_) {
        culprit.kind = name(RunState::oom);
        what += ": the node ran out of memory";
    }
    if (culprit.evidence == Evidence::signal)
        what += words_of_cpu_limit(WTERMSIG(culprit.wait_status));
    if (is_full())
        what += ": the node's disk is full";
}

bool NodeCauses::is_full() const
{
    struct statvfs disk { };
    return statvfs(folder_.c_str(), &disk) == 0
        && (disk.f_bavail * disk.f_frsize < kNoRoom || (disk.f_files > 0 && disk.f_favail < kFewInodes));
}

} // namespace fourfold
