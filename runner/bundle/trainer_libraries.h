// SPDX-License-Identifier: GPL-3.0-or-later
// Where an installed trainer's LibTorch is: no Linux distribution has it as a package, so that it may lie anywhere.
#pragma once

#include "runner/bundle/shared_libraries.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct TrainerLibraries {
    std::vector<SharedLibrary> libraries;
    bool by_itself = true; // the trainer finds them without help
};

// Looks for LibTorch in $FOURFOLD_LIBTORCH (a folder with lib/) alone where that is set, else where the trainer itself
// looks (its run path, LD_LIBRARY_PATH), in the user's cache, and where this program was built. Fails with not_found,
// which names the command that fetches LibTorch; with bad_input when the trainer is no ELF program.
Expected<TrainerLibraries> trainer_libraries(const std::filesystem::path& trainer);

// Where `fourfold libtorch get` puts it: libtorch-<version>/torch in the user's cache.
std::filesystem::path cached_libtorch();

} // namespace fourfold
