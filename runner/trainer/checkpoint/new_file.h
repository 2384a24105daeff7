// SPDX-License-Identifier: GPL-3.0-or-later
// A large new file, written from beginning to end past the kernel's page cache where the file system can: copying a
// checkpoint into fresh pages takes several times the processor time of handing it to the disk, and training waits for
// a processor.
#pragma once

#include "core/base/expected.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace fourfold::trainer {

class NewFile {
public:
    // There is no file of this name. Keeps room for `bytes` where the file system can: a disk that has none says so
    // now.
    static Expected<std::unique_ptr<NewFile>> create(const std::filesystem::path& path, int64_t bytes);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    Expected<void> append(const void* bytes, std::size_t count);
    // Makes the file durable.
    Expected<void> finish();

private:
    NewFile() = default;
    Expected<void> flush();
    bool through_the_cache(); // from here on

    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::string path_;
    int descriptor_ = -1;
    bool direct_ = false;
    std::unique_ptr<std::byte, Free> block_; // what was appended and not yet written
    std::size_t filled_ = 0;
};

} // namespace fourfold::trainer
