// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/checks/load_checks.h"

#include "runner/agent/checks/node_checks.h"
#include "runner/agent/files/installed_files.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/program_output.h"
#include "runner/agent/system/trusted_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace fourfold {

namespace {

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
constexpr double kLoadSeconds = 20;
constexpr std::size_t kMostText = 300;

// "2.27.5" of "NCCL version 2.27.5+cuda13.0" somewhere in the library.
std::string nccl_version(const std::string& file)
{
    static constexpr std::string_view kMark = "NCCL version ";
    const auto fd = open_file(file, O_RDONLY);
    if (!fd)
        return {};
    std::string block(4u << 20, '\0');
    std::string kept;
    for (off_t offset = 0;;) {
        const ssize_t got = pread(fd->get(), block.data(), block.size(), offset);
        if (got <= 0)
            return {};
        offset += got;
        kept.append(block.data(), static_cast<std::size_t>(got));
        for (std::size_t at = kept.find(kMark); at != std::string::npos && at + kMark.size() + 32 < kept.size();
             at = kept.find(kMark, at + 1)) {
            const std::size_t begin = at + kMark.size();
            const std::size_t end = kept.find_first_not_of("0123456789.", begin);
            if (end != std::string::npos && end > begin + 2) // not the format of the message
                return kept.substr(begin, end - begin);
        }
        kept.erase(0, kept.size() > 256 ? kept.size() - 256 : 0);
    }
}

} // namespace

std::string loader_complaint(const std::string& output)
{
    std::string out;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || line.find("not found") == std::string::npos)
            continue;
        line = line.substr(begin);
        const std::string text
            = line.ends_with("=> not found") ? line.substr(0, line.find(" =>")) + " is missing" : line;
        if (out.find(text) == std::string::npos && out.size() < kMostText)
            out += (out.empty() ? "" : "; ") + text;
    }
    return out;
}

Expected<void> check_trainer_loads(const RunSpec& spec, const std::filesystem::path& folder, const Environment& before)
{
    if (spec.container || !spec.library_path || access(kLoader, X_OK) != 0)
        return {};
    const auto others = before.find("LD_LIBRARY_PATH");
    const std::string libraries
        = (folder / "bin").string() + (others == before.end() || others->second.empty() ? "" : ":" + others->second);
    const std::string program = (folder / spec.program).string();
    const std::string complaint = loader_complaint(
        output_of({kLoader, "--library-path", libraries.c_str(), "--list", program.c_str()}, kLoadSeconds, true));
    if (complaint.empty())
        return {};
    const bool driver = complaint.find("libcuda.so") != std::string::npos;
    const bool c_library = complaint.find("GLIBC_") != std::string::npos;
    return Problem{ProblemCode::failed, "the trainer cannot be loaded here: " + complaint,
        driver ? "install the NVIDIA driver, or set the target's backend to gloo to train on the CPU"
            : c_library
            ? "set the target's container to an image with a newer C library, or build the trainer on an older "
              "system"
            : "install the package that has it, or load its module in the target's prelude",
        spec.host};
}

Json nccl_checks()
{
    Json out = Json::array();
    InstalledFiles installed;
    const auto found = installed.find("libnccl.so.2", {});
    if (found.empty()) {
        out.push_back(finding("NCCL", "info", "the node has none of its own", "Python packages, CUDA, system folders",
            "the CUDA bundle brings it"));
        return out;
    }
    // A library is code that runs when it is loaded.
    const auto ours = std::find_if(
        found.begin(), found.end(), [](const std::string& file) { return open_trusted_file(file, {}).has_value(); });
    if (ours == found.end()) {
        out.push_back(finding("NCCL", "info", "the node's own could be changed by other users: it is not used",
            found.front(), "the CUDA bundle brings it"));
        return out;
    }
    const std::string& file = *ours;
    const std::string version = nccl_version(file);
    // The loader maps and relocates what it is to preload, and says so when it cannot.
    const std::string said = output_of({kLoader, "--preload", file.c_str(), "/bin/true"}, kLoadSeconds, true);
    const bool loads = said.find("cannot be preloaded") == std::string::npos && loader_complaint(said).empty()
        && access(kLoader, X_OK) == 0;
    out.push_back(finding("NCCL", loads ? "info" : "warning",
        (version.empty() ? "of unknown version" : version) + (loads ? " loads" : " does not load"),
        file + (loads ? "" : ": " + said.substr(0, kMostText)),
        loads ? "" : "repair or remove it; the CUDA bundle brings its own"));
    return out;
}

} // namespace fourfold
