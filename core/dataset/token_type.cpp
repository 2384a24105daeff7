// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/token_type.h"

#include "core/base/text.h"

namespace fourfold {

std::string dtype_of(TokenBytes bytes)
{
    constexpr int kBits = 8;
    return "uint" + std::to_string(int(bytes) * kBits);
}

namespace {
Expected<TokenBytes> named(const DataSource& source, const std::string& where)
{
    for (const TokenBytes bytes : {TokenBytes::one, TokenBytes::two, TokenBytes::four})
        if (source.dtype == dtype_of(bytes))
            return bytes;
    return Problem{ProblemCode::bad_input, "unknown token type " + in_quotes(source.dtype),
        "use uint8, uint16 or uint32", where + ".dtype"};
}
} // namespace

Expected<TokenBytes> token_bytes_of(const DataSource& source, const std::string& where)
{
    const std::filesystem::path index_file = TokenIndex::beside(source.path);
    std::error_code error;
    // A link that leads nowhere is there: without its index the file would be read as ids of another size.
    if (!std::filesystem::exists(std::filesystem::symlink_status(index_file, error))) {
        if (!source.dtype.empty())
            return named(source, where);
        return source.path.ends_with(".txt") ? TokenBytes::one : TokenBytes::two;
    }
    FOURFOLD_TRY(const auto index, TokenIndex::open(index_file));
    if (!source.dtype.empty()) {
        FOURFOLD_TRY(const TokenBytes bytes, named(source, where));
        if (bytes != index->token_bytes())
            return Problem{ProblemCode::bad_input,
                source.dtype + ", but " + index_file.string() + " says " + dtype_of(index->token_bytes()),
                "leave dtype out", where + ".dtype"};
    }
    FOURFOLD_TRY(const std::int64_t expected, index->data_bytes());
    if (const auto size = std::filesystem::file_size(source.path, error); !error && size != std::uintmax_t(expected))
        return Problem{ProblemCode::bad_input,
            "has " + std::to_string(size) + " bytes, but its index is of " + std::to_string(expected),
            "one of them is torn, or of another corpus: make them again", source.path};
    return index->token_bytes();
}

} // namespace fourfold
