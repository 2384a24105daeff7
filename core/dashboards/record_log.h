// SPDX-License-Identifier: GPL-3.0-or-later
// The records of a log that another program wrote, and may still be writing: TFRecords, and W&B's transaction log.
#pragma once

#include "core/base/expected.h"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace fourfold {

enum class RecordFormat { tfrecord, transaction_log };

class RecordLog {
public:
    RecordLog(std::filesystem::path file, RecordFormat format);
    using Take = std::function<void(std::string_view record)>;
    // Gives what came since the last time, record by record. One that is not whole yet waits for its rest; one whose
    // checksum is wrong is left out. False: the file is another one than the last time, or shorter; nothing was given,
    // and the next time begins at its beginning. Fails where it is no such log.
    Expected<bool> read(const Take& take);
    [[nodiscard]] std::size_t left_out() const { return left_out_; } // records
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }

private:
    class Window;
    Expected<void> read_tfrecords(Window& window, const Take& take);
    Expected<void> read_transactions(Window& window, const Take& take);

    std::filesystem::path file_;
    RecordFormat format_;
    std::int64_t offset_ = 0; // up to which it was taken
    std::size_t left_out_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0; // 0: not read yet
};

} // namespace fourfold
