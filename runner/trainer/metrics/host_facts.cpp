// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/host_facts.h"

#include <fstream>

#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace fourfold::trainer {

std::string host_name()
{
    utsname names{};
    return ::uname(&names) == 0 ? names.nodename : "unknown";
}

std::string kernel_release()
{
    utsname names{};
    return ::uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "unknown";
}

std::string compiler_version()
{
#if defined(__clang__)
    return std::string("clang++ ") + __clang_version__;
#else
    return std::string("g++ ") + __VERSION__;
#endif
}

int usable_cores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}

Json cpu_facts()
{
    Json facts{{"cpu", nullptr}, {"cores", usable_cores()}, {"memory_gib", nullptr}, {"cpu_clock_mhz", nullptr}};
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
            facts["cpu"] = line.substr(line.find(": ") + 2);
            break;
        }
    const double pages = double(::sysconf(_SC_PHYS_PAGES)), page = double(::sysconf(_SC_PAGE_SIZE));
    if (pages > 0 && page > 0)
        facts["memory_gib"] = pages * page / double(1u << 30);
    std::ifstream clock("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    if (double khz = 0; clock >> khz)
        facts["cpu_clock_mhz"] = khz / 1000;
    return facts;
}

double resident_peak_gib()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) * 1024 / double(1u << 30); // Linux counts kilobytes
}

} // namespace fourfold::trainer
