// SPDX-License-Identifier: GPL-3.0-or-later
// What a file is that was given in another one's place, by its first bytes.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace fourfold {

inline constexpr std::string_view kPackedByGzip = "packed by gzip";

// "packed by gzip", "a zip archive", "in UTF-16" ...; empty: none of these.
constexpr std::string_view other_kind_of(std::string_view beginning)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kKinds{
        {{"\x1f\x8b", kPackedByGzip}, {"\x28\xb5\x2f\xfd", "packed by zstd"},
            {"\xfd"
             "7zXZ",
                "packed by xz"},
            {"BZh", "packed by bzip2"}, {"PK\x03\x04", "a zip archive"}, {"\xff\xfe", "in UTF-16"},
            {"\xfe\xff", "in UTF-16"}, {"GGUF\x02", "a GGUF model"}, {"GGUF\x03", "a GGUF model"},
            {"\x89PNG", "a picture"}, {"%PDF", "a PDF"}, {"PAR1", "a Parquet file"}}};
    for (const auto& [magic, words] : kKinds) {
        if (beginning.starts_with(magic))
            return words;
    }
    // The length of its head in eight bytes, and the head.
    constexpr std::size_t kLength = 8;
    const bool has_head = beginning.size() > kLength && beginning[kLength] == '{';
    if (has_head && beginning.substr(kLength / 2, kLength / 2) == std::string_view("\0\0\0\0", kLength / 2))
        return "a safetensors file";
    return {};
}

} // namespace fourfold
