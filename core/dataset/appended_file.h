// SPDX-License-Identifier: GPL-3.0-or-later
// A file that grows at its end and can be cut back to what is known to be whole.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace fourfold {

class AppendedFile {
public:
    // Makes the file where it is missing and cuts it to `size` bytes; fails where it has fewer, or another program has
    // it open so (refused).
    static Expected<AppendedFile> open(const std::filesystem::path& file, std::int64_t size);
    // On a failure (a full disk) part of `bytes` may be there.
    Expected<void> append(std::string_view bytes);
    // What was appended outlives a crash of the machine.
    Expected<void> sync();
    [[nodiscard]] std::int64_t size() const { return size_; }

private:
    AppendedFile() = default;

    std::filesystem::path file_;
    FileDescriptor descriptor_;
    std::int64_t size_ = 0;
};

} // namespace fourfold
