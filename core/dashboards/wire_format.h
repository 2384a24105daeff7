// SPDX-License-Identifier: GPL-3.0-or-later
// Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding), as far as the few fields of
// two dashboards need it: libprotobuf and a compiler of .proto files would be more than what they replace.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace fourfold {

template <typename Number>
void append_little_endian(std::string& out, Number number)
{
    for (std::size_t byte = 0; byte < sizeof number; ++byte)
        out += static_cast<char>(number >> 8 * byte);
}

class Message {
public:
    Message& whole(int field, std::uint64_t value)
    {
        tag(field, 0);
        varint(value);
        return *this;
    }
    Message& real(int field, double value) // "double"
    {
        tag(field, 1);
        append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
        return *this;
    }
    Message& single(int field, float value) // "float"
    {
        tag(field, 5);
        append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
        return *this;
    }
    Message& text(int field, std::string_view value)
    {
        tag(field, 2);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    Message& message(int field, const Message& value) { return text(field, value.bytes_); }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    void tag(int field, unsigned type) { varint(std::uint64_t(field) << 3 | type); }
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

} // namespace fourfold
