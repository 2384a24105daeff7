// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/node/links.h"

#include "core/base/text.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/program_output.h"
#include "runner/agent/system/sorted_entries.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace fourfold {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr double kBitsOfByte = 8;

std::string word_in(const std::filesystem::path& file)
{
    return std::string(trimmed(slurp(file, 256), kSpaces));
}

// Of one lane in one direction, after coding (PCI Express base specification: 8b/10b to gen 2, 128b/130b to gen 5).
double lane_gb_s(int generation)
{
    const std::map<int, double> kLanes{{1, 0.25}, {2, 0.5}, {3, 0.985}, {4, 1.969}, {5, 3.938}, {6, 7.563}};
    const auto lane = kLanes.find(generation);
    return lane == kLanes.end() ? 0 : lane->second;
}

// "\t Link 3: 26.562 GB/s" below "GPU 0: NVIDIA H100 ..."; links that are not in use say "<inactive>".
void read_nvlink(const std::string& text, GpuLinks& out)
{
    std::vector<std::pair<int, double>> gpus;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string_view said = trimmed(line, kSpaces);
        if (said.starts_with("GPU "))
            gpus.emplace_back(0, 0.0);
        const std::size_t colon = said.find(": ");
        if (gpus.empty() || !said.starts_with("Link ") || colon == std::string_view::npos)
            continue;
        if (const double speed = std::strtod(std::string(said.substr(colon + 2)).c_str(), nullptr); speed > 0) {
            ++gpus.back().first;
            gpus.back().second += speed;
        }
    }
    if (const auto weakest = std::min_element(gpus.begin(), gpus.end()); weakest != gpus.end()) {
        out.links = weakest->first;
        out.gb_s = weakest->second;
    }
}

// The matrix of `topo -m`: row and column of a GPU hold "NV18", "X" for itself, or a kind of way through PCIe.
void read_topology(const std::string& text, GpuLinks& out)
{
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (!name.starts_with("GPU") || line.starts_with('\t') || name.find('\033') != std::string::npos)
            continue; // the heading, or what follows
        auto& row = rows.emplace_back();
        for (std::string word; words >> word;)
            row.push_back(word);
    }
    int fewest = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.size() && j < rows[i].size(); ++j) {
            if (i == j)
                continue;
            const int links = rows[i][j].starts_with("NV") ? std::atoi(rows[i][j].c_str() + 2) : 0;
            fewest = fewest < 0 ? links : std::min(fewest, links);
        }
    }
    out.pair_links = std::max(fewest, 0);
}

void read_pcie(const std::string& text, GpuLinks& out)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t comma = line.find(',');
        if (comma == std::string::npos)
            continue;
        const double speed = lane_gb_s(std::atoi(line.c_str())) * std::atoi(line.c_str() + comma + 1);
        if (speed > 0)
            out.pcie_gb_s = out.pcie_gb_s > 0 ? std::min(out.pcie_gb_s, speed) : speed;
    }
}

} // namespace

GpuLinks gpu_links(const std::string& nvlink, const std::string& topology, const std::string& pcie)
{
    GpuLinks out;
    read_nvlink(nvlink, out);
    read_topology(topology, out);
    read_pcie(pcie, out);
    return out;
}

Json network_adapters(const std::filesystem::path& root)
{
    Json out = Json::array();
    for (const auto& device : sorted_entries(root / "sys/class/infiniband")) {
        for (const auto& port : sorted_entries(device / "ports")) {
            // "400 Gb/sec (4X NDR)", "4: ACTIVE", "InfiniBand" or "Ethernet"
            const double gigabits = std::strtod(word_in(port / "rate").c_str(), nullptr);
            if (gigabits > 0 && word_in(port / "state").starts_with("4"))
                out.push_back({{"name", device.filename().string()},
                    {"kind", word_in(port / "link_layer") == "Ethernet" ? "RoCE" : "InfiniBand"},
                    {"gb_s", gigabits / kBitsOfByte}});
        }
    }
    if (out.empty()) {
        for (const auto& device : sorted_entries(root / "sys/class/net")) {
            std::error_code error; // of no board: bridges, loopback, tunnels
            const double megabits = std::strtod(word_in(device / "speed").c_str(), nullptr);
            if (megabits > 0 && std::filesystem::exists(device / "device", error)
                && word_in(device / "operstate") == "up")
                out.push_back({{"name", device.filename().string()}, {"kind", "Ethernet"},
                    {"gb_s", megabits / 1000 / kBitsOfByte}});
        }
    }
    std::stable_sort(out.begin(), out.end(),
        [](const Json& a, const Json& b) { return a["gb_s"].get<double>() > b["gb_s"].get<double>(); });
    return out;
}

Json node_links(const std::filesystem::path& root)
{
    GpuLinks gpus;
    if (!nvidia_smi().empty())
        gpus = gpu_links(ask_nvidia_smi({"nvlink", "--status"}), ask_nvidia_smi({"topo", "-m"}),
            ask_nvidia_smi({"--query-gpu=pcie.link.gen.max,pcie.link.width.max", "--format=csv,noheader,nounits"}));
    return {{"gpu_gb_s", gpus.gb_s > 0 ? gpus.gb_s : gpus.pcie_gb_s}, {"gpu_links", gpus.links},
        {"pair_links", gpus.pair_links}, {"pcie_gb_s", gpus.pcie_gb_s}, {"adapters", network_adapters(root)}};
}

} // namespace fourfold
