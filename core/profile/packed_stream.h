// SPDX-License-Identifier: GPL-3.0-or-later
// A file as a stream, unpacked where gzip packed it.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <istream>
#include <memory>
#include <string>

namespace fourfold {

// A damaged or torn file ends the stream where it is damaged.
class PackedStream : public std::istream {
public:
    static Expected<std::unique_ptr<PackedStream>> open(const std::filesystem::path& file);
    ~PackedStream() override;
    // Why the stream ended before the file did; empty: it did not.
    [[nodiscard]] const std::string& trouble() const;

private:
    class Buffer;
    explicit PackedStream(std::unique_ptr<Buffer> buffer);
    std::unique_ptr<Buffer> buffer_;
};

} // namespace fourfold
