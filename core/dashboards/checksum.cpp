// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dashboards/checksum.h"

#include <array>

namespace fourfold {

namespace {
// The polynomial's bits in reverse order.
template <std::uint32_t polynomial>
constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
        table[byte] = rest;
    }
    return table;
}();

template <std::uint32_t polynomial>
std::uint32_t crc(std::string_view bytes)
{
    std::uint32_t rest = ~std::uint32_t(0);
    for (const char byte : bytes)
        rest = rest >> 8 ^ kTable<polynomial>[(rest ^ static_cast<unsigned char>(byte)) & 0xFF];
    return ~rest;
}
} // namespace

std::uint32_t crc32c(std::string_view bytes)
{
    return crc<0x82F63B78>(bytes);
}

std::uint32_t masked_crc32c(std::string_view bytes)
{
    constexpr std::uint32_t kDelta = 0xA282EAD8;
    const std::uint32_t sum = crc32c(bytes);
    return (sum >> 15 | sum << 17) + kDelta;
}

std::uint32_t crc32(std::string_view bytes)
{
    return crc<0xEDB88320>(bytes);
}

} // namespace fourfold
