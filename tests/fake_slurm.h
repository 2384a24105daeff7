// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that answer as Slurm's do on a login host.
#pragma once

#include <filesystem>
#include <fstream>
#include <utility>

namespace fourfold::fakes {

// What a login host of Slurm has, for PATH: a default partition without GPUs, and one of three nodes up with eight
// A100s.
inline std::filesystem::path put_fake_slurm(const std::filesystem::path& folder)
{
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : {std::pair{"sinfo",
                                         "echo 'cpu*|up|idle|2|1:00:00|(null)|64|256000|(null)'\n"
                                         "echo 'gpu|up|idle|3|1-00:00:00|gpu:a100:8|128|1031000|ib'\n"
                                         "echo 'gpu|up|down*|1|1-00:00:00|gpu:a100:8|128|1031000|ib'\n"},
             std::pair{"sbatch", "echo no job is wanted here\nexit 1\n"}}) {
        std::ofstream(folder / name) << "#!/bin/sh\n" << text;
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
    }
    return folder;
}

} // namespace fourfold::fakes
