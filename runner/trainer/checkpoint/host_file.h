// SPDX-License-Identifier: GPL-3.0-or-later
// A file of a checkpoint that is still to be written: its tensors stand in this computer's memory.
#pragma once

#include "runner/trainer/checkpoint/safetensors.h"
#include "runner/trainer/checkpoint/stored_layout.h"

#include <optional>

namespace fourfold::trainer {

struct HostTensor {
    StoredTensor stored;
    const std::byte* data = nullptr; // contiguous, of the stored type; in the table's order where there is a `layout`
    std::optional<StoredLayout> layout; // the order of the file, where that is another
};

struct HostFile {
    std::string name; // within the checkpoint's folder
    std::vector<HostTensor> tensors;

    // Makes the file, durably; where that fails, nothing of it stays.
    [[nodiscard]] Expected<FileSums> write(const std::filesystem::path& folder) const;
};

} // namespace fourfold::trainer
