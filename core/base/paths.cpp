// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"

#include <cerrno>
#include <cstdlib>
#include <pwd.h>
#include <string>
#include <string_view>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold {

namespace {
std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

// The XDG specification: relative values are ignored.
std::filesystem::path xdg_folder(const char* variable, const char* fallback)
{
    const std::filesystem::path value = environment(variable);
    return (value.is_absolute() ? value : home_folder() / fallback) / "fourfold";
}

// `variable` holds one folder or several, separated by ':'.
void append_list(std::vector<std::filesystem::path>& out, const char* variable)
{
    const std::string value = environment(variable);
    for (std::string_view rest = value; !rest.empty();) {
        const std::size_t end = rest.find(':');
        if (const std::string_view entry = rest.substr(0, end); !entry.empty())
            out.emplace_back(entry);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
}
} // namespace

std::filesystem::path home_folder()
{
    // A relative one would be another folder wherever the program is started.
    if (const std::string home = environment("HOME"); home.starts_with('/'))
        return home;
    const passwd* user = ::getpwuid(::getuid());
    return user && user->pw_dir ? user->pw_dir : "/";
}

std::filesystem::path data_folder()
{
    return xdg_folder("XDG_DATA_HOME", ".local/share");
}

std::filesystem::path config_folder()
{
    return xdg_folder("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path cache_folder()
{
    return xdg_folder("XDG_CACHE_HOME", ".cache");
}

std::error_code make_private_folders(const std::filesystem::path& folder)
{
    std::error_code error;
    std::filesystem::path at;
    for (const std::filesystem::path& name : folder) {
        at /= name;
        if (mkdir(at.c_str(), 0700) != 0 && !std::filesystem::is_directory(at, error)) {
            mkdir(at.c_str(), 0700); // why not
            return {errno, std::generic_category()};
        }
    }
    return {};
}

std::filesystem::path program_folder()
{
    std::error_code error;
    auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) // no /proc: as it was started, which a later change of the folder would make wrong
        program = std::filesystem::canonical(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), error);
    return error ? std::filesystem::current_path(error) : program.parent_path();
}

std::filesystem::path own_program(const std::string& name)
{
    const std::filesystem::path here = program_folder();
    std::error_code error;
    for (const auto& folder : {here, here.parent_path() / "bin", here.parent_path() / "libexec/fourfold"}) {
        if (std::filesystem::exists(folder / name, error))
            return folder / name;
    }
    return here / name;
}

std::vector<std::filesystem::path> preset_folders()
{
    std::vector<std::filesystem::path> out{config_folder() / "presets"};
    append_list(out, "FOURFOLD_PRESETS");
    out.push_back(program_folder().parent_path() / "share/fourfold/presets");
    out.emplace_back(FOURFOLD_SOURCE_TREE "/presets");
    return out;
}

std::vector<std::filesystem::path> resource_folders()
{
    std::vector<std::filesystem::path> out{data_folder() / "resources"};
    append_list(out, "FOURFOLD_RESOURCES");
    out.push_back(program_folder().parent_path() / "share/fourfold/resources");
    out.emplace_back(FOURFOLD_SOURCE_TREE "/resources");
    return out;
}

std::vector<std::filesystem::path> script_folders()
{
    return {program_folder().parent_path() / "share/fourfold/packaging", FOURFOLD_SOURCE_TREE "/packaging"};
}

} // namespace fourfold
