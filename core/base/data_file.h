// SPDX-License-Identifier: GPL-3.0-or-later
// A regular file of data, read piece by piece. Not mapped into memory: one that becomes shorter while it is read, or a
// disk that fails, is then a Problem instead of the end of the process.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace fourfold {

// Immutable; several threads may read at once.
class DataFile {
public:
    // Problems name `where`, or the file where it is empty. `hint`: what to do about one that cannot be opened.
    static Expected<std::shared_ptr<const DataFile>> open(
        const std::filesystem::path& file, const std::string& where = "", const std::string& hint = "");
    DataFile(const DataFile&) = delete;
    DataFile& operator=(const DataFile&) = delete;

    [[nodiscard]] int64_t size() const { return size_; } // bytes, when it was opened
    // Precondition: 0 <= offset, offset + bytes <= size().
    Expected<void> read(int64_t offset, std::size_t bytes, void* out) const;

private:
    DataFile() = default;

    std::string where_;
    FileDescriptor descriptor_;
    int64_t size_ = 0;
};

} // namespace fourfold
