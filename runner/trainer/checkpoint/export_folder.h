// SPDX-License-Identifier: GPL-3.0-or-later
// Where an exported model goes: beside its name while it is written, and under it when all of it is there.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::trainer {

// Refused: what is there already; the inside of a checkpoint, which no save could replace then, or of the `exported`
// folder; and the name of a checkpoint.
Expected<void> check_export_output(const std::filesystem::path& output, const std::filesystem::path& exported);

class ExportFolder {
public:
    // Takes over what an export left that did not end; refused while another one is at work.
    static Expected<ExportFolder> make(const std::filesystem::path& output);
    ExportFolder(ExportFolder&&) = default;
    ExportFolder& operator=(ExportFolder&&) = delete;
    // Unless it was published nothing is left.
    ~ExportFolder();

    // Where the files are written.
    [[nodiscard]] const std::filesystem::path& partial() const { return partial_; }
    [[nodiscard]] Expected<void> publish(const std::vector<std::string>& files);

private:
    ExportFolder() = default;
    std::filesystem::path output_, partial_;
    // An empty folder is filled and not replaced: it may be a mount point, a link to another disk, or ".".
    bool fills_ = false;
    FileDescriptor held_; // the folder `partial_`, locked where the file system can; closed: it is not ours any more
};

// Files from one folder into an empty one; config.json last: until it is there, that is no model. Where one cannot be
// moved, none of them is left there. `from` goes when it is empty.
Expected<void> move_files(
    const std::filesystem::path& from, const std::filesystem::path& to, std::vector<std::string> names);

} // namespace fourfold::trainer
