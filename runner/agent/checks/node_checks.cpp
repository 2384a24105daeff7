// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/checks/node_checks.h"

#include "core/base/units.h"
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/node/facts.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

namespace fourfold {

namespace {

constexpr double kLittleDiskGib = 2, kLittleShmGib = 1;
constexpr uint64_t kFewInodes = 10000;
constexpr rlim_t kFewFiles = 4096;

std::string gib(double bytes)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", bytes / kGib);
    return text;
}

std::string file_system(long type)
{
    static const std::map<long, const char*> kNames{{0xEF53, "ext"}, {0x58465342, "xfs"}, {0x01021994, "tmpfs"},
        {0x6969, "nfs"}, {0x9123683E, "btrfs"}, {0x0BD00BD0, "lustre"}, {0x794c7630, "overlay"}, {0x47504653, "gpfs"},
        {0x19830326, "beegfs"}, {0x2FC12FC1, "zfs"}, {0x65735546, "fuse"}};
    const auto at = kNames.find(type & 0xffffffffL);
    char text[32];
    std::snprintf(text, sizeof text, "type %#lx", static_cast<unsigned long>(type) & 0xffffffffUL);
    return at == kNames.end() ? text : at->second;
}

void check_base(const std::filesystem::path& base, Json& out)
{
    struct statvfs disk { };
    struct statfs kind { };
    if (statvfs(base.c_str(), &disk) != 0 || statfs(base.c_str(), &kind) != 0) {
        out.push_back(finding("base folder", "error", "cannot be looked at", std::strerror(errno), "set base_folder"));
        return;
    }
    const double free = double(disk.f_bavail) * double(disk.f_frsize);
    const std::string place = base.string() + " (" + file_system(kind.f_type) + ")";
    out.push_back(finding("disk", free < kLittleDiskGib * kGib ? "warning" : "info", gib(free) + " free", place,
        free < kLittleDiskGib * kGib ? "make room, or set base_folder to another disk" : ""));
    if (disk.f_files > 0 && disk.f_favail < kFewInodes)
        out.push_back(finding("inodes", "warning", std::to_string(disk.f_favail) + " files can still be made", place,
            "delete small files, or set base_folder to another disk"));
    if ((disk.f_flag & ST_NOEXEC) != 0)
        out.push_back(finding("noexec", "error", "programs cannot be run from the base folder", place,
            "set base_folder to a file system that is not mounted noexec"));
    if ((disk.f_flag & ST_RDONLY) != 0)
        out.push_back(finding("read-only", "error", "the base folder cannot be written", place, "set base_folder"));
    // Nodes may share the file system: each tries with a file of its own.
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const auto file = base / (".probe-lock-" + std::string(host) + "-" + std::to_string(getpid()));
    const auto lock = open_file(file, O_RDWR | O_CREAT);
    if (!lock || flock(lock->get(), LOCK_EX | LOCK_NB) != 0)
        out.push_back(finding("flock", "error", "files cannot be locked in the base folder",
            place + ": " + (lock ? std::strerror(errno) : lock.error().message),
            "mount it with locks (NFS: without nolock), or set base_folder to another file system"));
    unlink(file.c_str());
}

void check_memory(Json& out)
{
    struct statvfs shm { };
    if (statvfs("/dev/shm", &shm) != 0) {
        out.push_back(finding("/dev/shm", "warning", "is not there", std::strerror(errno),
            "NCCL and Gloo use it between ranks of a node: mount a tmpfs there"));
    } else {
        const double size = double(shm.f_blocks) * double(shm.f_frsize),
                     free = double(shm.f_bavail) * double(shm.f_frsize);
        const bool little = free < kLittleShmGib * kGib;
        out.push_back(finding("/dev/shm", little ? "warning" : "info", gib(free) + " of " + gib(size) + " free",
            "statvfs", little ? "enlarge it (docker: --shm-size, mount -o remount,size=...)" : ""));
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < kFewFiles)
        out.push_back(finding("open files", "warning", "at most " + std::to_string(limit.rlim_max) + " per process",
            "RLIMIT_NOFILE", "raise nofile in /etc/security/limits.conf"));
    std::error_code error;
    const bool infiniband = !std::filesystem::is_empty("/sys/class/infiniband", error) && !error;
    if (infiniband && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
        && limit.rlim_cur < (1u << 30))
        out.push_back(finding("locked memory", "error", "InfiniBand needs more than " + gib(double(limit.rlim_cur)),
            "RLIMIT_MEMLOCK; adapters in /sys/class/infiniband",
            "set memlock to unlimited in /etc/security/limits.conf"));
}

// Ranks of Fourfold, by the variable that every process of a run carries.
void check_other_runs(const std::filesystem::path& base, Json& out)
{
    std::map<std::string, int> runs;
    for (const RunProcess& process : run_processes())
        ++runs[process.run];
    for (const auto& [run, count] : runs) {
        const auto folder = base / "runs" / run;
        std::error_code error;
        const bool here = is_run_id(run) && std::filesystem::exists(folder, error);
        out.push_back(finding("other runs", "warning",
            std::to_string(count)
                + (count == 1 ? " process of run " + run + " is here" : " processes of run " + run + " are here"),
            "FOURFOLD_RUN in their environment; "
                + (here ? folder.string() : "of another base folder than " + base.string()),
            here ? "wait for it, or end it: `fourfold stop " + run + "`"
                 : "wait for it, or ask who launched it; measurements will be off"));
    }
    double load = 0;
    const std::string text = slurp("/proc/loadavg", 256);
    if (std::sscanf(text.c_str(), "%lf", &load) == 1) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        const bool busy = load > 0.5 * double(cores);
        char shown[96];
        std::snprintf(shown, sizeof shown, "load %.1f on %ld cores", load, cores);
        out.push_back(finding("load", busy ? "warning" : "info", shown, "/proc/loadavg",
            busy ? "other programs use the node: measurements will be off" : ""));
    }
}

} // namespace

Json finding(const std::string& check, const std::string& level, const std::string& message,
    const std::string& evidence, const std::string& cure)
{
    return {{"check", check}, {"level", level}, {"message", message}, {"evidence", evidence}, {"cure", cure}};
}

Problem problem_of(const Json& finding, ProblemCode code, const std::string& host)
{
    const std::string evidence = text_field(finding, "evidence");
    return {code,
        text_field(finding, "check") + ": " + text_field(finding, "message")
            + (evidence.empty() ? "" : " (" + evidence + ")"),
        text_field(finding, "cure"), host};
}

Json node_checks(const std::filesystem::path& base, int ranks, bool on_gpus)
{
    Json out = Json::array();
    check_base(base, out);
    check_memory(out);
    check_other_runs(base, out);
    if (on_gpus) {
        for (Json& one : gpu_checks(ranks))
            out.push_back(std::move(one));
        for (Json& one : nccl_checks())
            out.push_back(std::move(one));
    }
    return out;
}

} // namespace fourfold
