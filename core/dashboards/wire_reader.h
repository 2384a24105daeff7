// SPDX-License-Identifier: GPL-3.0-or-later
// Reads messages in protobuf's wire format field by field, whatever else they hold: what another program wrote may have
// fields that nobody here knows, or end anywhere.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fourfold {

template <typename Number>
Number little_endian(std::string_view bytes) // of at least sizeof(Number)
{
    Number number = 0;
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[byte])) << 8 * byte);
    return number;
}

class WireReader {
public:
    explicit WireReader(std::string_view message)
        : rest_(message)
    {
    }
    // The next field; false at the end, and where the message is damaged.
    bool next()
    {
        std::uint64_t tag = 0;
        if (rest_.empty() || !varint(tag))
            return false;
        field_ = static_cast<int>(tag >> 3);
        switch (tag & 7) {
        case 0:
            bytes_ = {};
            return varint(number_);
        case 1:
            return take(8) && (number_ = little_endian<std::uint64_t>(bytes_), true);
        case 2: {
            std::uint64_t size = 0;
            return varint(size) && take(size);
        }
        case 5:
            return take(4) && (number_ = little_endian<std::uint32_t>(bytes_), true);
        default:
            return false; // groups are gone from the format
        }
    }
    [[nodiscard]] int field() const { return field_; }
    [[nodiscard]] std::string_view bytes() const { return bytes_; } // of texts and messages
    [[nodiscard]] std::int64_t whole() const { return static_cast<std::int64_t>(number_); }
    [[nodiscard]] double real() const { return std::bit_cast<double>(number_); }
    [[nodiscard]] float single() const { return std::bit_cast<float>(static_cast<std::uint32_t>(number_)); }

private:
    bool varint(std::uint64_t& value)
    {
        value = 0;
        for (std::size_t byte = 0; byte < rest_.size() && byte < 10; ++byte) {
            const auto now = static_cast<unsigned char>(rest_[byte]);
            value |= std::uint64_t(now & 0x7F) << 7 * byte;
            if (now < 0x80) {
                rest_.remove_prefix(byte + 1);
                return true;
            }
        }
        return false;
    }
    bool take(std::uint64_t size)
    {
        if (size > rest_.size())
            return false;
        bytes_ = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(static_cast<std::size_t>(size));
        return true;
    }

    std::string_view rest_, bytes_;
    int field_ = 0;
    std::uint64_t number_ = 0;
};

} // namespace fourfold
