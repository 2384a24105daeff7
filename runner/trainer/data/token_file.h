// SPDX-License-Identifier: GPL-3.0-or-later
// A file of tokens: text (one token a byte) or little-endian 16- or 32-bit token ids.
#pragma once

#include "core/base/data_file.h"
#include "core/base/expected.h"
#include "core/dataset/token_type.h"

#include <cstdint>
#include <memory>
#include <string>

namespace fourfold::trainer {

// Immutable. Only the range [begin, end) of the source is visible.
class TokenFile {
public:
    // Opens the file and checks that its size is a multiple of the token's and that the range is not empty.
    // Errors name the file. `where` is the plan's field, e.g. "run.data[0]".
    static Expected<std::shared_ptr<const TokenFile>> open(const DataSource& source, const std::string& where);
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;

    [[nodiscard]] int64_t size() const { return count_; } // tokens in the range
    // Tokens [first, first + count) of the range, which must hold them.
    Expected<void> read(int64_t first, int64_t count, int64_t* out) const;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    TokenFile() = default;

    std::string path_;
    TokenBytes bytes_ = TokenBytes::one;
    std::shared_ptr<const DataFile> file_;
    int64_t first_ = 0, count_ = 0;
};

} // namespace fourfold::trainer
