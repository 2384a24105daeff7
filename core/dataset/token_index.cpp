// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/token_index.h"

#include "core/dataset/appended_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

namespace fourfold {

static_assert(std::endian::native == std::endian::little, "files of tokens are little-endian");

namespace {
constexpr std::string_view kMagic{"MMIDIDX\0\0", 9};
constexpr std::uint64_t kVersion = 1;
constexpr std::int64_t kHead = std::int64_t(kMagic.size()) + 8 + 1 + 8 + 8;

// Megatron's codes of NumPy's types. It has no uint32: ids above 65,535 are int32, whose bytes are the same.
struct TypeCode {
    std::uint8_t code;
    TokenBytes bytes;
};
constexpr std::array kTypes{TypeCode{1, TokenBytes::one}, TypeCode{4, TokenBytes::four}, TypeCode{8, TokenBytes::two}};

template <typename Number>
Number take(const char*& from)
{
    Number number;
    std::memcpy(&number, from, sizeof number);
    from += sizeof number;
    return number;
}

template <typename Number>
void put(std::string& to, Number number)
{
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
}
} // namespace

std::filesystem::path TokenIndex::beside(const std::filesystem::path& tokens)
{
    std::filesystem::path index = tokens;
    return tokens.extension() == ".bin" ? index.replace_extension(".idx") : index += ".idx";
}

Expected<std::shared_ptr<const TokenIndex>> TokenIndex::open(const std::filesystem::path& file)
{
    const std::shared_ptr<TokenIndex> index(new TokenIndex);
    FOURFOLD_TRY(index->file_, DataFile::open(file));
    index->where_ = file.string();
    std::array<char, kHead> head{};
    const auto no_index = [&](const std::string& why) {
        return Problem{
            ProblemCode::bad_input, why, "expected the .idx of Megatron's indexed dataset, version 1", file.string()};
    };
    if (index->file_->size() < kHead)
        return no_index("is too short for an index");
    FOURFOLD_CHECK(index->file_->read(0, head.size(), head.data()));
    const char* at = head.data() + kMagic.size();
    if (std::string_view(head.data(), kMagic.size()) != kMagic)
        return no_index("is no index of tokens");
    if (const auto version = take<std::uint64_t>(at); version != kVersion)
        return no_index("is an index of version " + std::to_string(version));
    const auto code = take<std::uint8_t>(at);
    const auto* const type
        = std::find_if(kTypes.begin(), kTypes.end(), [&](TypeCode known) { return known.code == code; });
    if (type == kTypes.end())
        return no_index("holds ids of type " + std::to_string(code) + ", expected uint8, uint16 or int32");
    index->bytes_ = type->bytes;
    const auto sequences = take<std::uint64_t>(at), bounds = take<std::uint64_t>(at);
    constexpr std::uint64_t kMost = std::uint64_t(1) << 48;
    if (sequences > kMost || bounds > kMost
        || std::uint64_t(index->file_->size()) != std::uint64_t(kHead) + sequences * (4 + 8) + bounds * 8)
        return Problem{ProblemCode::bad_input,
            "has " + std::to_string(index->file_->size()) + " bytes, which is not what its head says for "
                + std::to_string(sequences) + " sequences: it is torn",
            "make it again", file.string()};
    index->sequences_ = std::int64_t(sequences);
    index->documents_ = std::max(std::int64_t(bounds), std::int64_t(1)) - 1;
    if (bounds > 0)
        FOURFOLD_CHECK(index->document_begin(index->documents_)); // where the last one ends: all others are before it
    return std::shared_ptr<const TokenIndex>(index);
}

Expected<TokenIndex::Sequence> TokenIndex::sequence(std::int64_t i) const
{
    std::int32_t tokens = 0;
    Sequence sequence;
    FOURFOLD_CHECK(file_->read(kHead + i * 4, sizeof tokens, &tokens));
    FOURFOLD_CHECK(file_->read(kHead + sequences_ * 4 + i * 8, sizeof sequence.first_byte, &sequence.first_byte));
    sequence.tokens = tokens;
    if (tokens < 0 || sequence.first_byte < 0 || sequence.first_byte > std::numeric_limits<std::int64_t>::max() / 2)
        return Problem{
            ProblemCode::bad_input, "sequence " + std::to_string(i) + " begins or ends before the file", "", where_};
    return sequence;
}

Expected<std::int64_t> TokenIndex::data_bytes() const
{
    if (sequences_ == 0)
        return std::int64_t(0);
    FOURFOLD_TRY(const Sequence last, sequence(sequences_ - 1));
    return last.first_byte + last.tokens * std::int64_t(bytes_);
}

Expected<std::int64_t> TokenIndex::document_begin(std::int64_t i) const
{
    std::int64_t first = 0;
    FOURFOLD_CHECK(file_->read(kHead + sequences_ * (4 + 8) + i * 8, sizeof first, &first));
    if (first < 0 || first > sequences_)
        return Problem{ProblemCode::bad_input,
            "document " + std::to_string(i) + " begins with sequence " + std::to_string(first) + " of "
                + std::to_string(sequences_),
            "make the index again", where_};
    if (first == sequences_) {
        FOURFOLD_TRY(const std::int64_t end, data_bytes());
        return end / std::int64_t(bytes_);
    }
    FOURFOLD_TRY(const Sequence found, sequence(first));
    return found.first_byte / std::int64_t(bytes_);
}

Expected<std::vector<std::int64_t>> TokenIndex::document_begins(std::int64_t first, std::int64_t last) const
{
    std::int64_t low = 0, high = documents_;
    while (low < high) { // the first document that begins after `first`
        const std::int64_t middle = low + (high - low) / 2;
        FOURFOLD_TRY(const std::int64_t begin, document_begin(middle));
        if (begin > first)
            high = middle;
        else
            low = middle + 1;
    }
    std::vector<std::int64_t> begins;
    for (; low < documents_; ++low) {
        FOURFOLD_TRY(const std::int64_t begin, document_begin(low));
        if (begin > last)
            break;
        if (begin < (begins.empty() ? first : begins.back()))
            return Problem{ProblemCode::bad_input,
                "document " + std::to_string(low) + " begins before the one in front of it", "make the index again",
                where_};
        if (begins.empty() || begin > begins.back())
            begins.push_back(begin);
    }
    return begins;
}

Expected<void> write_token_index(
    const std::filesystem::path& file, TokenBytes bytes, const std::filesystem::path& lengths, std::int64_t documents)
{
    FOURFOLD_TRY(const auto source, DataFile::open(lengths));
    FOURFOLD_TRY(AppendedFile out, AppendedFile::open(file, 0));
    const auto* const type
        = std::find_if(kTypes.begin(), kTypes.end(), [&](TypeCode known) { return known.bytes == bytes; });
    std::string text(kMagic);
    put(text, kVersion);
    put(text, type->code);
    put(text, std::uint64_t(documents));
    put(text, std::uint64_t(documents) + 1);
    FOURFOLD_CHECK(out.append(text));

    // Three passes over the lengths, so that 10^9 documents need no memory.
    constexpr std::int64_t kBlock = 1 << 16;
    std::vector<std::uint32_t> block;
    const auto each_block = [&](const auto& write) -> Expected<void> {
        for (std::int64_t first = 0; first < documents; first += kBlock) {
            block.resize(std::size_t(std::min(kBlock, documents - first)));
            FOURFOLD_CHECK(source->read(first * 4, block.size() * 4, block.data()));
            text.clear();
            write(first);
            FOURFOLD_CHECK(out.append(text));
        }
        return {};
    };
    FOURFOLD_CHECK(each_block([&](std::int64_t) {
        for (const std::uint32_t length : block)
            put(text, std::int32_t(length));
    }));
    std::int64_t begin = 0;
    FOURFOLD_CHECK(each_block([&](std::int64_t) {
        for (const std::uint32_t length : block) {
            put(text, begin);
            begin += std::int64_t(length) * std::int64_t(bytes);
        }
    }));
    FOURFOLD_CHECK(each_block([&](std::int64_t first) {
        for (std::size_t i = 0; i < block.size(); ++i)
            put(text, first + std::int64_t(i));
    }));
    text.clear();
    put(text, documents);
    FOURFOLD_CHECK(out.append(text));
    return out.sync();
}

} // namespace fourfold
