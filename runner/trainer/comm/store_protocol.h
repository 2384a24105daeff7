// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks and the store of a job say to each other once a connection has proved the job's token: a request, then
// its answer, one at a time. Each is a length (32 bits, little endian, without itself) and so many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fourfold::trainer {

inline constexpr std::size_t kMostMessage = 64u << 20; // bytes
inline constexpr std::size_t kLengthBytes = 4;

enum class StoreRequest : uint8_t {
    set, // key, value -> (nothing)
    append, // key, value -> (nothing): behind what is there
    add, // key, number -> the sum, stored as decimal text
    compare_set, // key, expected, wanted -> what is there then; an empty `expected` also means that nothing is
    erase, // key -> 1 or 0: whether it was there
    count, // -> number of keys
    // milliseconds, whether values are asked for, number of keys, keys ->
    // number of keys missing when the time is up, their positions; when none is and values are asked for: the values
    fetch,
};

class MessageWriter {
public:
    MessageWriter() { text_.resize(kLengthBytes); }
    void number(int64_t value) { append(&value, sizeof value); }
    void text(std::string_view value)
    {
        number(static_cast<int64_t>(value.size()));
        text_ += value;
    }
    // The whole message, its length in front.
    std::string finish()
    {
        const auto size = static_cast<uint32_t>(text_.size() - kLengthBytes);
        std::memcpy(text_.data(), &size, kLengthBytes);
        return std::move(text_);
    }

private:
    void append(const void* from, std::size_t size) { text_.append(static_cast<const char*>(from), size); }
    std::string text_;
};

// Beyond the end of a message everything is zero and empty, and good() is false.
class MessageReader {
public:
    explicit MessageReader(std::string_view message)
        : rest_(message)
    {
    }
    int64_t number()
    {
        int64_t value = 0;
        if (const std::string_view bytes = take(sizeof value); bytes.size() == sizeof value)
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string_view text()
    {
        const int64_t size = number();
        return take(size < 0 ? SIZE_MAX : static_cast<std::size_t>(size));
    }
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] bool at_end() const { return good_ && rest_.empty(); }

private:
    std::string_view take(std::size_t size)
    {
        good_ = good_ && size <= rest_.size();
        const std::string_view bytes = good_ ? rest_.substr(0, size) : std::string_view();
        rest_.remove_prefix(bytes.size());
        return bytes;
    }
    std::string_view rest_;
    bool good_ = true;
};

} // namespace fourfold::trainer
