// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/packed_stream.h"

#include "core/base/input_file.h"

#include <zlib.h>

#include <cstring>
#include <streambuf>
#include <string_view>
#include <vector>

namespace fourfold {

class PackedStream::Buffer : public std::streambuf {
public:
    explicit Buffer(gzFile file)
        : file_(file)
        , bytes_(1 << 18)
    {
    }
    ~Buffer() override { gzclose(file_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

protected:
    int_type underflow() override
    {
        const int got = trouble_.empty() ? gzread(file_, bytes_.data(), static_cast<unsigned>(bytes_.size())) : 0;
        int error = Z_OK;
        const char* const words = gzerror(file_, &error);
        if (error != Z_OK && error != Z_STREAM_END)
            trouble_ = error == Z_BUF_ERROR ? "it ends too early" : words;
        if (got <= 0)
            return traits_type::eof();
        if (is_too_long({bytes_.data(), static_cast<std::size_t>(got)})) {
            trouble_ = "a text or a gap in it is longer than " + std::to_string(kLongest >> 20) + " MiB";
            return traits_type::eof();
        }
        setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
        return traits_type::to_int_type(*gptr());
    }

private:
    // The parser keeps a text, or the blanks before it, as a whole: a small file may unpack to gigabytes of them.
    static constexpr std::size_t kLongest = 16u << 20;

    bool is_too_long(std::string_view part)
    {
        for (const char c : part) {
            const bool ends = in_text_ ? c == '"' && !escaped_ : c == '"' || std::strchr(",:{}[]", c) != nullptr;
            escaped_ = in_text_ && c == '\\' && !escaped_;
            if (c == '"' && ends)
                in_text_ = !in_text_;
            run_ = ends ? 0 : run_ + 1;
            if (run_ > kLongest)
                return true;
        }
        return false;
    }

    bool in_text_ = false, escaped_ = false;
    std::size_t run_ = 0; // bytes of the text or gap so far
    gzFile file_;
    std::vector<char> bytes_;
    std::string trouble_;
};

PackedStream::PackedStream(std::unique_ptr<Buffer> buffer)
    : std::istream(buffer.get())
    , buffer_(std::move(buffer))
{
}

PackedStream::~PackedStream() = default;

Expected<std::unique_ptr<PackedStream>> PackedStream::open(const std::filesystem::path& file)
{
    FOURFOLD_TRY(FileDescriptor descriptor, open_regular(file));
    gzFile packed = gzdopen(descriptor.get(), "rb");
    if (packed == nullptr)
        return Problem{ProblemCode::io, "cannot be read", "", file.string()};
    descriptor.release(); // it is gzclose()'s now
    gzbuffer(packed, 1 << 18);
    return std::unique_ptr<PackedStream>(new PackedStream(std::make_unique<Buffer>(packed)));
}

const std::string& PackedStream::trouble() const
{
    return buffer_->trouble();
}

} // namespace fourfold
