// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/chunk.h"

#include <zstd.h>

namespace fourfold {

std::string compress_chunk(std::string_view raw, int level)
{
    assert(raw.size() <= kChunkBytes);
    std::string out(ZSTD_compressBound(raw.size()), '\0');
    const std::size_t size = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), level);
    assert(!ZSTD_isError(size));
    out.resize(size);
    return out;
}

std::size_t raw_size(std::string_view compressed)
{
    const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
    return size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kChunkBytes
        ? 0
        : static_cast<std::size_t>(size);
}

Expected<std::string> expand_chunk(std::string_view compressed)
{
    const auto damaged = [](const char* what) -> Problem {
        return {ProblemCode::network, std::string("a piece of a file arrived damaged: ") + what, "try again", {}};
    };
    const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return damaged("it is not zstd data");
    if (size > kChunkBytes)
        return damaged("it is larger than a piece may be");
    std::string out(static_cast<std::size_t>(size), '\0');
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), compressed.data(), compressed.size());
    if (ZSTD_isError(got))
        return damaged(ZSTD_getErrorName(got));
    if (got != out.size())
        return damaged("it is shorter than it says");
    return out;
}

} // namespace fourfold
