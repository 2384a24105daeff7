// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/shared_libraries.h"

#include "core/base/input_file.h"
#include "core/base/json.h"
#include "core/base/text.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace fourfold {

namespace {
// What belongs to the C library: it must be the node's own, together with its loader and kernel.
bool is_of_c_library(const std::string& name)
{
    static constexpr std::array<std::string_view, 12> kNames{"linux-vdso.so", "linux-gate.so", "ld-linux", "libc.so.",
        "libm.so.", "libmvec.so.", "libpthread.so.", "libdl.so.", "librt.so.", "libresolv.so.", "libutil.so.",
        "libanl.so."};
    return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// True when the program has a dynamic loader (PT_INTERP).
Expected<bool> is_dynamic(const std::filesystem::path& program)
{
    const auto not_elf = [&]() -> Problem {
        return {ProblemCode::bad_input, "is not a 64-bit ELF program", "name the trainer that was built for the nodes",
            program.string()};
    };
    const auto opened = open_regular(program);
    if (!opened)
        return Problem{opened.error().code, "the trainer cannot be read: " + opened.error().message,
            "build it (FOURFOLD_TRAINER=ON), or name another", program.string()};
    const int fd = opened->get();
    Elf64_Ehdr header{};
    bool dynamic = false;
    const bool whole = pread(fd, &header, sizeof header, 0) == ssize_t(sizeof header)
        && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
    for (int i = 0; whole && i < header.e_phnum && !dynamic; ++i) {
        Elf64_Phdr segment{};
        if (pread(fd, &segment, sizeof segment, static_cast<off_t>(header.e_phoff + sizeof segment * unsigned(i)))
            != ssize_t(sizeof segment))
            break;
        dynamic = segment.p_type == PT_INTERP;
    }
    if (!whole)
        return not_elf();
    return dynamic;
}
} // namespace

Expected<std::vector<SharedLibrary>> parse_loader_trace(const std::string& text, const std::string& program)
{
    std::vector<SharedLibrary> out;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        const std::size_t begin = line.find_first_not_of(" \t");
        const std::size_t arrow = line.find(" => ");
        if (begin == std::string::npos || arrow == std::string::npos)
            continue; // the loader itself and the vdso have no arrow
        const std::string name = line.substr(begin, arrow - begin);
        std::string file = line.substr(arrow + 4);
        if (file.starts_with("not found"))
            return Problem{ProblemCode::not_found, "needs " + name + ", which is not on this computer",
                "set LD_LIBRARY_PATH to its folder", program};
        file = file.substr(0, file.rfind(" (0x"));
        const std::string base = std::filesystem::path(name).filename().string();
        if (is_of_c_library(base) || file.empty() || file[0] != '/')
            continue;
        out.push_back({base, file});
    }
    return out;
}

Expected<std::vector<SharedLibrary>> shared_libraries(
    const std::filesystem::path& program, const std::vector<std::filesystem::path>& folders)
{
    FOURFOLD_TRY(const bool dynamic, is_dynamic(program));
    if (!dynamic)
        return std::vector<SharedLibrary>{};
    // With this variable the loader lists what it would load and ends; the program's own code does not run.
    std::vector<std::string> searched;
    for (const std::filesystem::path& folder : folders)
        searched.push_back(folder.string());
    if (const char* own = std::getenv("LD_LIBRARY_PATH"); own && *own)
        searched.emplace_back(own);
    std::vector<std::string> environment{"LD_TRACE_LOADED_OBJECTS=1"};
    if (!searched.empty())
        environment.push_back("LD_LIBRARY_PATH=" + joined(searched, ":"));
    std::vector<char*> envp;
    for (std::string& entry : environment)
        envp.push_back(entry.data());
    envp.push_back(nullptr);
    const std::string path = program.string();
    char* const argv[] = {const_cast<char*>(path.c_str()), nullptr};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return Problem{ProblemCode::io, std::string("no pipe: ") + std::strerror(errno), {}, path};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, path.c_str(), &actions, nullptr, argv, envp.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> block{};
    ssize_t got = 0;
    while (error == 0 && ((got = read(ends[0], block.data(), block.size())) > 0 || (got < 0 && errno == EINTR))) {
        if (got > 0)
            text.append(block.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    if (error != 0)
        return Problem{ProblemCode::io, std::string("cannot be started: ") + std::strerror(error), {}, path};
    int status = 0;
    waitpid(pid, &status, 0);
    FOURFOLD_TRY(auto libraries, parse_loader_trace(text, path));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return Problem{ProblemCode::io, "the dynamic loader cannot resolve its libraries", {}, path};
    return libraries;
}

Expected<int> needed_glibc_minor(const std::filesystem::path& program)
{
    FOURFOLD_TRY(const std::string content, read_text_file(program, std::size_t(1) << 30));
    static constexpr std::string_view kMark = "GLIBC_2.";
    int newest = 0;
    for (std::size_t at = content.find(kMark); at != std::string::npos; at = content.find(kMark, at + 1)) {
        const std::size_t digits = at + kMark.size();
        const std::size_t end = std::min(content.find_first_not_of("0123456789", digits), digits + 3);
        if (end > digits)
            newest = std::max(newest, std::stoi(content.substr(digits, end - digits)));
    }
    return newest;
}

} // namespace fourfold
