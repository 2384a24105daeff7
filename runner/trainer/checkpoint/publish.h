// SPDX-License-Identifier: GPL-3.0-or-later
// The folders of steps: how a finished one gets its name, and how old ones go. Whenever the process is killed, each
// name is that of a whole checkpoint.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fourfold::trainer {

// Refused where this is no folder or holds something that no save writes: what is there is somebody's, and stays.
Expected<void> check_only_ours(const std::filesystem::path& folder);
// The same for the folder of a step, which needs the state or the checksums of a checkpoint unless it is empty.
Expected<void> check_replaceable(const std::filesystem::path& step);
// For each step that a run from `first` to `last` saves every `every` steps.
Expected<void> check_steps(const std::filesystem::path& folder, int first, int last, int every);

// Two runs that save into one folder would empty each other's unfinished checkpoints.
inline constexpr char kLockFile[] = ".fourfold-lock";
struct SaverName {
    std::string run, host;
};
// The folder is this run's until the descriptor is closed; refused, by its name, while it is another run's. A file
// server keeps the locks of a host that died for a while: one of another host is waited for, `patience_s` seconds at
// most. Nothing (an invalid descriptor) where the file system knows no locks, or the folder cannot be made: then each
// save says why.
Expected<FileDescriptor> hold_folder(const std::filesystem::path& folder, const SaverName& name, double patience_s);

// Endings of folders that are not a checkpoint yet, not any more, or whole beside somebody's folder of that name.
inline constexpr char kPartial[] = ".partial", kRemoved[] = ".removed", kAside[] = ".kept";

// The folder `partial` takes the name `target`, durably and at once, also where there is a checkpoint of that name.
Expected<void> publish_step(const std::filesystem::path& partial, const std::filesystem::path& target);

// A run that went back to an earlier step, or began anew, leaves another course of the training in the folder: a later
// load would take its newest step for this run's. Whole steps that are not `own` get a name that no load and no save
// looks for; the new names.
std::vector<std::filesystem::path> set_others_aside(
    const std::filesystem::path& folder, const std::function<bool(int step)>& own);

// Of the steps in `folder` up to this one, the newest `keep` stay, and all later ones. What killed runs left of steps
// up to this one goes too. What is no checkpoint of ours neither counts nor goes.
void remove_oldest(const std::filesystem::path& folder, int steps, int keep);

} // namespace fourfold::trainer
