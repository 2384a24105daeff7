// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/node/facts.h"

#include "core/base/text.h"
#include "core/base/units.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"
#include "runner/agent/system/program_output.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace fourfold {

namespace {

constexpr std::string_view kBlank = " \t\r\n\"";

// The value of the line that begins with `key`.
std::string line_value(const std::string& text, const std::string& key)
{
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        if (line.starts_with(key))
            return std::string(trimmed(std::string_view(line).substr(key.size()), kBlank));
    }
    return {};
}

double kib_as_gib(const std::string& text)
{
    return std::strtod(text.c_str(), nullptr) * 1024.0 / kGib;
}

// The C library of the node, not the one this static program holds: its version is a text in the library itself.
std::string glibc_version()
{
    for (const char* file : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6",
             "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6", "/lib/libc.so.6"}) {
        const std::string content = slurp(file, 8u << 20);
        static constexpr std::string_view kMark = "release version ";
        const std::size_t at = content.find(kMark);
        if (at == std::string::npos)
            continue;
        const std::size_t begin = at + kMark.size();
        const std::string version
            = content.substr(begin, std::min<std::size_t>(content.find_first_not_of("0123456789.", begin) - begin, 8));
        return version.substr(0, version.find_last_not_of('.') + 1); // "release version 2.36."
    }
    return {};
}

// Memory that the node's cgroup allows, or 0 where it does not limit.
double cgroup_limit_gib()
{
    for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        const double bytes = std::strtod(slurp(file).c_str(), nullptr);
        if (bytes > 0 && bytes < 1e15)
            return bytes / kGib;
    }
    return 0;
}

void add_gpus(Json& facts)
{
    Json gpus = Json::array();
    const std::string version = slurp("/proc/driver/nvidia/version");
    if (!version.empty()) {
        std::error_code error;
        const std::string text
            = ask_nvidia_smi({"--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"});
        std::istringstream lines(text);
        std::string name, memory, driver;
        while (std::getline(lines, name, ',') && std::getline(lines, memory, ',') && std::getline(lines, driver)) {
            gpus.push_back(
                {{"name", trimmed(name, kBlank)}, {"memory_gib", std::strtod(memory.c_str(), nullptr) / 1024.0}});
            facts["driver"] = trimmed(driver, kBlank);
        }
        if (gpus.empty()) {
            for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error))
                gpus.push_back({{"name", line_value(slurp(entry.path() / "information"), "Model:")}});
        }
        if (gpus.empty() && !text.starts_with("No devices")) // not the same as no GPU
            facts["gpu_silence"] = "there is an NVIDIA driver, and nvidia-smi "
                + (text.empty() ? "says nothing" : "says: " + printable(text.substr(0, text.find('\n')), 200));
    }
    facts["gpus"] = std::move(gpus);
}

// "client-ip client-port server-ip server-port": the address under which this node was reached.
std::string reached_address()
{
    const char* connection = std::getenv("SSH_CONNECTION");
    if (!connection)
        return {};
    std::istringstream fields(connection);
    std::string client, client_port, server;
    fields >> client >> client_port >> server;
    return server;
}
} // namespace

Json node_facts(const std::filesystem::path& base)
{
    Json facts = Json::object();
    utsname system{};
    uname(&system);
    facts["hostname"] = system.nodename;
    facts["os"] = line_value(slurp("/etc/os-release"), "PRETTY_NAME=");
    facts["kernel"] = system.release;
    facts["arch"] = system.machine;
    facts["glibc"] = glibc_version();
    facts["boot_id"] = boot_id();
    cpu_set_t cores;
    CPU_ZERO(&cores);
    facts["cores"] = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores)
                                                                     : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    facts["cpu"] = line_value(slurp("/proc/cpuinfo"), "model name\t:");
    const std::string memory = slurp("/proc/meminfo");
    double total = kib_as_gib(line_value(memory, "MemTotal:"));
    double available = kib_as_gib(line_value(memory, "MemAvailable:"));
    if (const double limit = cgroup_limit_gib(); limit > 0) {
        total = std::min(total, limit);
        available = std::min(available, limit);
    }
    facts["memory_gib"] = total;
    facts["memory_available_gib"] = available;
    struct statvfs disk { };
    if (statvfs(base.c_str(), &disk) == 0)
        facts["disk_free_gib"] = double(disk.f_bavail) * double(disk.f_frsize) / kGib;
    facts["address"] = reached_address();
    facts["interfaces"] = network_interfaces();
    facts["base"] = base.string();
    facts["user_id"] = geteuid();
    add_gpus(facts);
    return facts;
}

} // namespace fourfold
