// SPDX-License-Identifier: GPL-3.0-or-later
// Where Fourfold's files live: the XDG folders of the user, and the presets and resources that came with the program.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace fourfold {

// $HOME, or what the system says of the user where that is not set or not absolute (services, cron jobs, slips).
std::filesystem::path home_folder();
// $XDG_DATA_HOME/fourfold (default ~/.local/share/fourfold): history.db, runs/.
std::filesystem::path data_folder();
// $XDG_CONFIG_HOME/fourfold (default ~/.config/fourfold): the user's own presets/ and targets, known_hosts.
std::filesystem::path config_folder();
// $XDG_CACHE_HOME/fourfold (default ~/.cache/fourfold).
std::filesystem::path cache_folder();
// Makes what is missing of a folder for the user alone (0700), whatever the umask: others, or their group, who could
// write there could exchange what is run and believed.
std::error_code make_private_folders(const std::filesystem::path& folder);
// Folder of the running program.
std::filesystem::path program_folder();
// A program that came with this one: beside it, in ../bin, in ../libexec/fourfold.
std::filesystem::path own_program(const std::string& name);
// Folders searched for presets, first match wins: the user's own, $FOURFOLD_PRESETS, beside an installed program
// (../share/fourfold/presets), the source tree this program was built from.
std::vector<std::filesystem::path> preset_folders();
// Folders searched for resources (corpus/...), in the same manner; $FOURFOLD_RESOURCES.
std::vector<std::filesystem::path> resource_folders();
// Folders searched for the scripts that came with the program (libtorch.sh): beside an installed program, the source
// tree.
std::vector<std::filesystem::path> script_folders();

} // namespace fourfold
