// SPDX-License-Identifier: GPL-3.0-or-later
// Where an installed trainer's LibTorch is: no Linux distribution has it as a package, so that it may lie anywhere.
#pragma once

#include "runner/bundle/shared_libraries.h"

#include <filesystem>
#include <optional>
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

// The LibTorch folder that this program was built with, without links. A package carries the name of a folder of its
// builder, where on another computer somebody else could slip code into this user's ranks: it counts when nobody but
// the user, root and who installed this program can write it or any folder above.
std::optional<std::filesystem::path> builders_libtorch(const std::filesystem::path& named);

// Where `fourfold libtorch get` puts it: libtorch-<version>/torch in the user's cache.
std::filesystem::path cached_libtorch();

} // namespace fourfold
