// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/token_layout.h"

#include "core/base/text.h"
#include "core/dataset/array_heads.h"
#include "core/dataset/token_type.h"

#include <vector>

namespace fourfold {

namespace {
Expected<TokenLayout> plain_layout(const DataSource& source, const DataFile& file, const std::string& where)
{
    FOURFOLD_TRY(const TokenBytes each, token_bytes_of(source, where));
    const int bytes = int(each);
    if (file.size() % bytes != 0)
        return Problem{ProblemCode::bad_input,
            std::to_string(file.size()) + " bytes are not a whole, positive number of " + std::to_string(bytes)
                + "-byte tokens",
            "check dtype", where + " " + source.path};
    return TokenLayout{0, file.size() / bytes, bytes, false};
}
} // namespace

Expected<void> TokenStore::read(std::int64_t first, std::int64_t count, std::int64_t* out) const
{
    const int size = layout.bytes;
    std::vector<unsigned char> bytes(std::size_t(count * size));
    FOURFOLD_CHECK(file->read(layout.first_byte + first * size, bytes.size(), bytes.data()));
    const int above = 64 - 8 * size; // bits that the sign, or nothing, fills
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint64_t token = 0;
        for (int byte = size; byte-- > 0;)
            token = token << 8 | bytes[std::size_t(i * size + byte)];
        out[i] = layout.has_sign ? std::int64_t(token << above) >> above : std::int64_t(token);
    }
    return {};
}

Expected<TokenStore> open_tokens(const DataSource& source, const std::string& where)
{
    const std::string named = where + " " + source.path;
    TokenStore store;
    const bool npy = source.path.ends_with(".npy"), safetensors = source.path.ends_with(".safetensors");
    // Before the size: a dtype that is none is the first thing to be said of any file.
    if (!npy && !safetensors)
        FOURFOLD_CHECK(token_bytes_of(source, where));
    FOURFOLD_TRY(store.file, DataFile::open(source.path, named, "give an existing token file"));
    FOURFOLD_TRY(store.layout,
        npy               ? npy_layout(*store.file, named)
            : safetensors ? safetensors_layout(*store.file, named)
                          : plain_layout(source, *store.file, where));
    if ((npy || safetensors) && !source.dtype.empty())
        return Problem{ProblemCode::bad_input, "found " + source.dtype + " for a file that says itself what it holds",
            "leave dtype out", where + ".dtype"};
    if (store.layout.tokens == 0)
        return Problem{
            ProblemCode::bad_input, "holds no tokens (0 bytes of them)", "give a file that is not empty", named};
    const auto index = TokenIndex::beside(source.path);
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(index, error))) {
        FOURFOLD_TRY(store.index, TokenIndex::open(index));
    }
    return store;
}

} // namespace fourfold
