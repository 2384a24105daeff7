// SPDX-License-Identifier: GPL-3.0-or-later
// checksums.json of a checkpoint: how long each other file of the folder is, and XXH3 of each piece of it. Written
// last: a checkpoint that has it is whole. Against accidents of disks and copies, not against forgery.
#pragma once

#include "core/base/json.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

inline constexpr char kChecksumFile[] = "checksums.json";
// A file is cut into pieces, so that all ranks of a job can check a checkpoint together.
inline constexpr int64_t kPieceBytes = 64 << 20;

struct FileSums {
    int64_t bytes = 0;
    std::vector<std::string> pieces; // 16 hexadecimal digits each: XXH3 with 64 bits of kPieceBytes, the last of fewer
};

Json to_json(const FileSums& sums);
Expected<FileSums> file_sums_from_json(const Json& json, const std::string& where);

// Adds up a file while it is written.
class Summer {
public:
    Summer();
    ~Summer();
    void append(const void* bytes, std::size_t count);
    [[nodiscard]] FileSums finish();

private:
    struct State;
    void end_piece();

    std::unique_ptr<State> state_;
    FileSums sums_;
    int64_t in_piece_ = 0;
};
FileSums sums_of_text(std::string_view text);

class Checksums {
public:
    using Files = std::map<std::string, FileSums>; // by name within the folder
    explicit Checksums(Files files)
        : files_(std::move(files))
    {
    }

    // Of a folder that has them. A damaged checksums.json is a Problem (bad_input), a missing one `not_found`.
    static Expected<Checksums> read(const std::filesystem::path& folder);
    // Durable, whole or not at all.
    Expected<void> write(const std::filesystem::path& folder) const;

    [[nodiscard]] const Files& files() const { return files_; }
    // Every file is there and as long as it was, and of all pieces those of this reader, `part` of `parts`, are as they
    // were written. The Problem names the first file that is not.
    Expected<void> check(const std::filesystem::path& folder, int part = 0, int parts = 1) const;

private:
    Files files_;
};

} // namespace fourfold::trainer
