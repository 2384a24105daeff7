// SPDX-License-Identifier: GPL-3.0-or-later
// The two 32-bit CRCs of the formats: CRC-32C (Castagnoli) of TFRecord, CRC-32 (IEEE 802.3) of W&B's log.
#pragma once

#include <cstdint>
#include <string_view>

namespace fourfold {

std::uint32_t crc32c(std::string_view bytes);
std::uint32_t masked_crc32c(std::string_view bytes); // of TFRecord: a checksum may be part of what is summed itself
std::uint32_t crc32(std::string_view bytes);

} // namespace fourfold
