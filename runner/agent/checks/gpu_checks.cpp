// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs through nvidia-smi, and the kernel's log of their errors (Xid).
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/program_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <vector>

namespace fourfold {

namespace {

constexpr double kMuchMemory = 0.9; // of a GPU must be free
constexpr std::size_t kMostLog = 4u << 20;

std::vector<std::vector<std::string>> rows_of(const std::string& text)
{
    std::vector<std::vector<std::string>> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> row;
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) {
            const std::size_t begin = cell.find_first_not_of(' ');
            row.push_back(
                begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(" \r") - begin + 1));
        }
        if (!row.empty())
            out.push_back(std::move(row));
    }
    return out;
}

// Bits of clocks_throttle_reasons that slow a GPU down; being idle or under an application's setting is none of them.
std::string throttling(const std::string& bits)
{
    static constexpr std::array<std::pair<unsigned long long, const char*>, 5> kReasons{{{0x4, "power cap"},
        {0x8, "hardware slowdown"}, {0x20, "too hot (software)"}, {0x40, "too hot (hardware)"}, {0x80, "power brake"}}};
    const unsigned long long active = std::strtoull(bits.c_str(), nullptr, 16);
    std::string out;
    for (const auto& [bit, name] : kReasons) {
        if ((active & bit) != 0)
            out += (out.empty() ? "" : ", ") + std::string(name);
    }
    return out;
}

// The newest lines "NVRM: Xid (...)" of the kernel's log, where it may be read.
std::vector<std::string> xid_lines()
{
    std::vector<std::string> out;
    const FileDescriptor log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    std::array<char, 8192> record{};
    std::size_t total = 0;
    while (log.valid() && total < kMostLog) {
        const ssize_t got = read(log.get(), record.data(), record.size());
        if (got <= 0)
            break;
        total += static_cast<std::size_t>(got);
        const std::string line(record.data(), static_cast<std::size_t>(got));
        if (const std::size_t at = line.find("NVRM: Xid"); at != std::string::npos)
            out.push_back(line.substr(at, line.find('\n', at) - at));
    }
    return out;
}

} // namespace

Json gpu_findings(const std::string& gpus, const std::string& processes, int ranks)
{
    Json out = Json::array();
    std::set<std::string> models;
    int count = 0;
    for (const auto& row : rows_of(gpus)) {
        if (row.size() < 8)
            continue;
        ++count;
        const std::string gpu = "GPU " + row[0];
        models.insert(row[1]);
        const double total = std::strtod(row[2].c_str(), nullptr), free = std::strtod(row[3].c_str(), nullptr);
        if (total > 0 && free < kMuchMemory * total && std::atoi(row[0].c_str()) < ranks)
            out.push_back(finding("GPU memory", "warning", gpu + " has " + row[3] + " of " + row[2] + " MiB free",
                "nvidia-smi memory.free", "end the programs that use it"));
        if (std::atoi(row[4].c_str()) > 0)
            out.push_back(
                finding("ECC", "error", gpu + " has " + row[4] + " uncorrected memory errors since its last reset",
                    "nvidia-smi ecc.errors.uncorrected.volatile.total",
                    "have the GPU reset or replaced; leave the node out"));
        if (const std::string why = throttling(row[5]); !why.empty())
            out.push_back(finding("clocks", "warning", gpu + " is slowed down: " + why,
                "nvidia-smi clocks_throttle_reasons " + row[5] + ", " + row[7] + " C",
                "look at cooling and power limit"));
        if (row[6] == "Enabled")
            out.push_back(finding("MIG", "error", gpu + " is split (MIG)", "nvidia-smi mig.mode.current",
                "switch MIG off for training over several GPUs"));
    }
    if (count < ranks)
        out.push_back(finding("GPUs", "error", std::to_string(count) + " GPUs for " + std::to_string(ranks) + " ranks",
            "nvidia-smi", "give the host fewer ranks, or set the target's backend to gloo"));
    else
        out.push_back(finding(
            "GPUs", "info", std::to_string(count) + " x " + (models.empty() ? "" : *models.begin()), "nvidia-smi"));
    if (models.size() > 1)
        out.push_back(finding("GPU models", "warning", "the node has " + std::to_string(models.size()) + " GPU models",
            *models.begin() + ", " + *models.rbegin(), "choose GPUs of one model with CUDA_VISIBLE_DEVICES"));
    for (const auto& row : rows_of(processes)) {
        if (row.size() >= 3)
            out.push_back(
                finding("GPU processes", "warning", "another program uses a GPU: " + row[2] + ", pid " + row[0],
                    row[1] + " of GPU memory", "end it, or wait"));
    }
    return out;
}

Json gpu_checks(int ranks)
{
    const std::string smi = nvidia_smi();
    if (smi.empty())
        return Json::array({finding("GPUs", "error", "nvidia-smi is not there", "/usr/bin, /bin, /usr/local/bin",
            "install the NVIDIA driver, or set the target's backend to gloo")});
    const std::string query = std::string("--query-gpu=") + kGpuQuery;
    const std::string apps = std::string("--query-compute-apps=") + kProcessQuery;
    const std::string gpus = ask_nvidia_smi({query.c_str(), "--format=csv,noheader,nounits"});
    Json out = gpus.empty() ? Json::array({finding("GPUs", "error", "nvidia-smi says nothing", smi + " " + query,
                   "run it by hand: a GPU may be lost, and the node need a restart")})
                            : gpu_findings(gpus, ask_nvidia_smi({apps.c_str(), "--format=csv,noheader"}), ranks);
    const auto xids = xid_lines();
    if (!xids.empty())
        out.push_back(finding("Xid", "warning", std::to_string(xids.size()) + " GPU errors in the kernel's log",
            xids.back(), "look the number up in NVIDIA's list of Xid errors; reset the GPU"));
    return out;
}

} // namespace fourfold
