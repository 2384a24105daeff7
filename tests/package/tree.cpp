// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/package/tree.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include <sys/wait.h>

namespace fourfold {
namespace {

const std::filesystem::path kRoot = FOURFOLD_SOURCE_DIR;

std::vector<std::string> walked_files()
{
    std::vector<std::string> files;
    for (auto entry = std::filesystem::recursive_directory_iterator(kRoot);
         entry != std::filesystem::recursive_directory_iterator(); ++entry) {
        const std::string name = entry->path().filename().string();
        if (entry->is_directory() && (name == ".git" || name == "build" || name == ".cache"))
            entry.disable_recursion_pending();
        else if (entry->is_regular_file() && name != ".git")
            files.push_back(entry->path().lexically_relative(kRoot).string());
    }
    return files;
}

} // namespace

std::vector<std::string> project_files()
{
    std::vector<std::string> files;
    if (std::filesystem::exists(kRoot / ".git")) {
        const CommandResult git = shell("git -C " + shell_word(kRoot) + " ls-files 2>/dev/null");
        std::istringstream lines(git.status == 0 ? git.output : "");
        for (std::string line; std::getline(lines, line);) {
            if (std::filesystem::exists(kRoot / line))
                files.push_back(line);
        }
    }
    if (files.empty())
        files = walked_files();
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> select(
    const std::vector<std::string>& files, const std::string& prefix, const std::vector<std::string>& endings)
{
    std::vector<std::string> selected;
    std::copy_if(files.begin(), files.end(), std::back_inserter(selected), [&](const std::string& file) {
        return file.starts_with(prefix)
            && std::any_of(endings.begin(), endings.end(), [&](const auto& ending) { return file.ends_with(ending); });
    });
    return selected;
}

std::vector<std::string> project_lines(const std::string& file)
{
    std::ifstream stream(kRoot / file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> includes(const std::string& file)
{
    static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<std::string> names;
    for (const std::string& line : project_lines(file)) {
        if (std::smatch match; std::regex_search(line, match, kInclude))
            names.push_back(match[1]);
    }
    return names;
}

CommandResult shell(const std::string& command)
{
    CommandResult result;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr)
        return result;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        result.output.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return result;
}

std::string shell_word(const std::filesystem::path& path)
{
    std::string text = "'";
    for (const char c : path.string()) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

ScratchFolder::ScratchFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "fourfold-package-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
        path_ = name;
}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    if (!path_.empty())
        std::filesystem::remove_all(path_, ignored);
}

} // namespace fourfold
