// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/printable_output.h"

#include <cstdio>

namespace fourfold::cli {

PrintableBuffer::PrintableBuffer(std::ostream& stream)
    : stream_(stream)
    , behind_(stream.rdbuf(this))
{
}

PrintableBuffer::~PrintableBuffer()
{
    out_.clear();
    text_.finish(out_);
    behind_->sputn(out_.data(), static_cast<std::streamsize>(out_.size()));
    behind_->pubsync();
    stream_.rdbuf(behind_);
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type byte)
{
    if (traits_type::eq_int_type(byte, traits_type::eof()))
        return traits_type::not_eof(byte);
    const char c = traits_type::to_char_type(byte);
    return xsputn(&c, 1) == 1 ? byte : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* bytes, std::streamsize count)
{
    out_.clear();
    text_.feed({bytes, static_cast<std::size_t>(count)}, out_);
    const auto size = static_cast<std::streamsize>(out_.size());
    return behind_->sputn(out_.data(), size) == size ? count : 0;
}

int PrintableBuffer::sync()
{
    return behind_->pubsync();
}

void overwrite_line(const std::string& text)
{
    std::fprintf(stderr, "\r%s\033[K", printable(text).c_str());
}

} // namespace fourfold::cli
