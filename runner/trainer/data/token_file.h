// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a token file that a plan names.
#pragma once

#include "core/dataset/token_layout.h"

#include <cstdint>
#include <memory>
#include <string>

namespace fourfold::trainer {

// Immutable. Only the range [begin, end) of the source is visible.
class TokenFile {
public:
    // Opens the file (open_tokens) and checks that the range is not empty. Errors name the file. `where` is the plan's
    // field, e.g. "run.data[0]".
    static Expected<std::shared_ptr<const TokenFile>> open(const DataSource& source, const std::string& where);
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;

    [[nodiscard]] int64_t size() const { return count_; } // tokens in the range
    // Tokens [first, first + count) of the range, which must hold them.
    Expected<void> read(int64_t first, int64_t count, int64_t* out) const;
    [[nodiscard]] bool has_index() const { return store_.index != nullptr; }
    // The tokens after `first`, up to `last`, at which a document begins by the index, which must be there.
    [[nodiscard]] Expected<std::vector<int64_t>> document_begins(int64_t first, int64_t last) const;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    TokenFile() = default;

    std::string path_;
    TokenStore store_;
    int64_t first_ = 0, count_ = 0;
};

} // namespace fourfold::trainer
