// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/precompiled_map.h"

#include "core/tokenizer/unicode.h"

#include <cstring>
#include <sodium.h>

namespace fourfold {

namespace {
// The fields of a unit.
constexpr std::uint32_t kLeafBit = 1U << 8, kLongOffsetBit = 1U << 9, kTop = 1U << 31, kLabelBits = 0xFF;
std::uint32_t label_of(std::uint32_t unit)
{
    return unit & (kTop | kLabelBits);
}
std::uint32_t value_of(std::uint32_t unit)
{
    return unit & ~kTop;
}
std::uint32_t offset_of(std::uint32_t unit)
{
    constexpr int kShort = 10, kLongShift = 6;
    return (unit >> kShort) << ((unit & kLongOffsetBit) >> kLongShift);
}
} // namespace

Expected<std::shared_ptr<const PrecompiledMap>> PrecompiledMap::of_base64(
    const std::string& base64, const std::string& where)
{
    auto map = std::make_shared<PrecompiledMap>();
    if (base64.empty())
        return std::shared_ptr<const PrecompiledMap>(std::move(map));
    std::string bytes(base64.size(), '\0');
    std::size_t size = 0;
    const Problem damaged{ProblemCode::bad_input, "expected a table of SentencePiece in base64", "", where};
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), base64.data(), base64.size(),
            nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL)
        != 0)
        return damaged;
    bytes.resize(size);
    std::uint32_t of_trie = 0;
    if (size < sizeof of_trie)
        return damaged;
    std::memcpy(&of_trie, bytes.data(), sizeof of_trie);
    if (of_trie % sizeof of_trie != 0 || of_trie > size - sizeof of_trie)
        return damaged;
    map->units_.resize(of_trie / sizeof of_trie);
    std::memcpy(map->units_.data(), bytes.data() + sizeof of_trie, of_trie);
    map->replacements_ = bytes.substr(sizeof of_trie + of_trie);
    return std::shared_ptr<const PrecompiledMap>(std::move(map));
}

std::optional<std::string_view> PrecompiledMap::replacement(std::string_view text) const
{
    if (units_.empty())
        return std::nullopt;
    std::size_t at = offset_of(units_[0]);
    for (const char byte : text) {
        const auto label = static_cast<unsigned char>(byte);
        at ^= label;
        if (label == 0 || at >= units_.size() || label_of(units_[at]) != label)
            return std::nullopt;
        const std::uint32_t unit = units_[at];
        at ^= offset_of(unit);
        if ((unit & kLeafBit) == 0)
            continue;
        // The shortest key that begins the text is taken, not the longest.
        if (at >= units_.size() || value_of(units_[at]) >= replacements_.size())
            return std::nullopt;
        const std::size_t begin = value_of(units_[at]);
        return std::string_view(replacements_).substr(begin, std::strlen(replacements_.c_str() + begin));
    }
    return std::nullopt;
}

std::string PrecompiledMap::apply(std::string_view text) const
{
    constexpr std::size_t kMostAsWhole = 6;
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = unicode::end_of_grapheme(text, at);
        const std::string_view grapheme = text.substr(at, end - at);
        at = end;
        if (grapheme.size() < kMostAsWhole) {
            if (const auto whole = replacement(grapheme)) {
                out += *whole;
                continue;
            }
        }
        unicode::Characters characters(grapheme);
        std::size_t begin = 0;
        for (char32_t c = 0; begin = characters.at(), characters.next(c);) {
            const std::string_view character = grapheme.substr(begin, characters.at() - begin);
            out += replacement(character).value_or(character);
        }
    }
    return out;
}

} // namespace fourfold
