// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/token_layout.h"

#include "core/base/text.h"
#include "core/dataset/array_heads.h"
#include "core/dataset/token_type.h"

#include <algorithm>
#include <array>
#include <vector>

namespace fourfold {

namespace {
// Files of other kinds whose bytes would be taken for ids without a word: what they begin with, and what to do.
struct OtherFile {
    std::string_view begins;
    const char *what, *hint;
};
constexpr std::array kOthers{OtherFile{"\x93NUMPY", "a NumPy array", "name it .npy"},
    OtherFile{"MMIDIDX", "the index of a token file", "name the .bin beside it"},
    OtherFile{"PK\x03\x04", "a zip archive (as .npz is)", "save the tokens as .npy"},
    OtherFile{"\x1f\x8b\x08\x08", "compressed", "unpack it"},
    OtherFile{std::string_view("\x1f\x8b\x08\0", 4), "compressed", "unpack it"},
    OtherFile{"\x28\xb5\x2f\xfd", "compressed", "unpack it"},
    OtherFile{"\xfd"
              "7zXZ",
        "compressed", "unpack it"},
    OtherFile{"PAR1", "a Parquet table", "make a token file of it with fourfold pack"},
    OtherFile{"ARROW1", "an Arrow table", "make a token file of it with fourfold pack"},
    OtherFile{"\x89HDF\r\n", "an HDF5 file", "save the tokens as .npy"},
    // llm.c and nanoGPT's speed runs: 256 numbers of 4 bytes ahead of the tokens, the first of them a date, then a
    // version.
    OtherFile{std::string_view("\x88\xd8\x34\x01\x01\0\0\0", 8), "a token file of llm.c, with a head of 1,024 bytes",
        "cut the head off: tail -c +1025"},
    OtherFile{std::string_view("\xa1\xd9\x34\x01\x07\0\0\0", 8), "a token file of llm.c, with a head of 1,024 bytes",
        "cut the head off: tail -c +1025, and set dtype to uint32"},
    OtherFile{"version https://git-lfs", "the pointer of a file that Git LFS keeps", "git lfs pull gets the file"}};

Expected<void> check_raw(const DataFile& file, const std::string& where)
{
    std::array<char, 24> head{};
    const auto length = std::size_t(std::min<std::int64_t>(file.size(), head.size()));
    FOURFOLD_CHECK(file.read(0, length, head.data()));
    for (const OtherFile& other : kOthers)
        if (std::string_view(head.data(), length).starts_with(other.begins))
            return Problem{
                ProblemCode::bad_input, std::string("is ") + other.what + ", no file of token ids", other.hint, where};
    return {};
}

// Letters, blanks and marks throughout: as ids of several bytes that would be numbers of 8,224 and more, never a small
// one.
bool is_text(const DataFile& file)
{
    constexpr std::int64_t kEnough = 256;
    std::array<char, kEnough> head{};
    if (file.size() < kEnough || !file.read(0, head.size(), head.data()))
        return false;
    return std::ranges::all_of(head, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= ' ' && byte < 0x7f) || c == '\n' || c == '\r' || c == '\t';
    });
}

Expected<TokenLayout> plain_layout(const DataSource& source, const DataFile& file, const std::string& where)
{
    FOURFOLD_CHECK(check_raw(file, where + " " + source.path));
    FOURFOLD_TRY(const TokenBytes each, token_bytes_of(source, where));
    const int bytes = int(each);
    if (each != TokenBytes::one && is_text(file))
        return Problem{ProblemCode::bad_input, "is text, no file of token ids",
            "make a token file of it with fourfold pack, or set dtype to uint8 to train on its bytes",
            where + " " + source.path};
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
        FOURFOLD_TRY(const std::int64_t bytes, store.index->data_bytes());
        if (const std::int64_t tokens = bytes / int(store.index->token_bytes()); tokens != store.layout.tokens)
            return Problem{ProblemCode::bad_input,
                "holds " + std::to_string(store.layout.tokens) + " tokens, but " + index.string() + " is of "
                    + std::to_string(tokens),
                "one of them is torn, or of another corpus: make them again", named};
    }
    return store;
}

} // namespace fourfold
