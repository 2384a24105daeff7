// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors format: 8 bytes with the length of a JSON header, the header (name -> dtype, shape, byte range), then
// the tensors' bytes, little-endian and row-major.
#pragma once

#include "core/base/data_file.h"
#include "core/base/json.h"
#include "runner/trainer/checkpoint/checksums.h"
#include "runner/trainer/checkpoint/new_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::trainer {

struct StoredTensor {
    std::string name;
    std::string dtype; // "F64", "F32", "F16", "BF16"
    std::vector<int64_t> shape;

    [[nodiscard]] int64_t elements() const;
    [[nodiscard]] int64_t bytes() const; // 0 for a dtype that is not known here
};

// Not thread-safe: it remembers what it read last.
class SafetensorsReader {
public:
    // Errors name the file: no safetensors, cut short, a byte range that does not fit the shape.
    static Expected<std::shared_ptr<const SafetensorsReader>> open(const std::filesystem::path& file);
    SafetensorsReader(const SafetensorsReader&) = delete;
    SafetensorsReader& operator=(const SafetensorsReader&) = delete;

    [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    // `count` elements of a tensor of this file: `first`, first + stride, ... in its row-major order. Precondition: the
    // tensor is here, all of them lie in it, and its dtype is known (bytes() > 0 or no elements).
    Expected<void> read(const StoredTensor& tensor, int64_t first, int64_t stride, int64_t count, double* out) const;

private:
    SafetensorsReader() = default;
    Expected<void> read_header();

    std::string path_;
    std::shared_ptr<const DataFile> file_;
    std::map<std::string, StoredTensor> tensors_;
    std::map<std::string, int64_t> offsets_; // in the file
    mutable std::vector<unsigned char> window_; // read at once: rows follow each other
    mutable int64_t window_begin_ = 0;
};

// Writes a file from beginning to end: the tensors in the order of the list, each in one or several calls of append.
class SafetensorsWriter {
public:
    // A new file. `metadata`: the format's "__metadata__", strings only.
    static Expected<std::unique_ptr<SafetensorsWriter>> create(
        const std::filesystem::path& file, const std::vector<StoredTensor>& tensors, const Json& metadata);

    Expected<void> append(const void* bytes, std::size_t count);
    // Makes the file durable. A Problem where fewer or more bytes came than the list says.
    Expected<void> finish();
    [[nodiscard]] int64_t bytes() const { return written_; }
    // Of the whole file; after finish().
    [[nodiscard]] FileSums sums() { return summer_.finish(); }

private:
    SafetensorsWriter() = default;

    std::string path_;
    std::unique_ptr<NewFile> file_;
    int64_t written_ = 0, expected_ = 0;
    Summer summer_;
};

} // namespace fourfold::trainer
