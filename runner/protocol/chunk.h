// SPDX-License-Identifier: GPL-3.0-or-later
// A piece of a file on its way to a node: compressed by itself, so that any prefix of a file can be continued.
#pragma once

#include "core/base/expected.h"

#include <string>
#include <string_view>

namespace fourfold {

inline constexpr std::size_t kChunkBytes = 1u << 20; // before compression

// zstd. Precondition: raw.size() <= kChunkBytes.
std::string compress_chunk(std::string_view raw, int level = 3);
// The bytes that a piece claims to hold; 0 when it is none (or claims more than a piece may hold).
std::size_t raw_size(std::string_view compressed);
// Fails (network) on anything that is not one whole compressed chunk of at most kChunkBytes.
Expected<std::string> expand_chunk(std::string_view compressed);

} // namespace fourfold
