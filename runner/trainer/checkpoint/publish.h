// SPDX-License-Identifier: GPL-3.0-or-later
// The folders of steps: how a finished one gets its name, and how old ones go. Whenever the process is killed, each
// name is that of a whole checkpoint.
#pragma once

#include "core/base/expected.h"

#include <filesystem>

namespace fourfold::trainer {

// Endings of folders that are not a checkpoint yet, or not any more.
inline constexpr char kPartial[] = ".partial", kRemoved[] = ".removed";

// The folder `partial` takes the name `target`, durably and at once, also where there is one of that name.
Expected<void> publish_step(const std::filesystem::path& partial, const std::filesystem::path& target);

// Of the steps in `folder` up to this one, the newest `keep` stay; later ones are of a run that went on from an earlier
// step, and are its to replace. What killed runs left of steps up to this one goes too.
void remove_oldest(const std::filesystem::path& folder, int steps, int keep);

} // namespace fourfold::trainer
