// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that this program says on standard output and standard error goes through here, so that no text of a node,
// a file or the history can give orders to the terminal.
#pragma once

#include "core/base/text.h"

#include <ostream>
#include <streambuf>

namespace fourfold::cli {

// Hands on what printable_lines() (core/base/text.h) makes of it. JSON keeps its meaning: what is replaced can only
// stand within its strings, where "\u001b" says the same.
class PrintableBuffer : public std::streambuf {
public:
    explicit PrintableBuffer(std::ostream& stream);
    PrintableBuffer(const PrintableBuffer&) = delete;
    PrintableBuffer& operator=(const PrintableBuffer&) = delete;
    ~PrintableBuffer() override;

protected:
    int_type overflow(int_type byte) override;
    std::streamsize xsputn(const char* bytes, std::streamsize count) override;
    int sync() override;

private:
    std::ostream& stream_;
    std::streambuf* behind_;
    PrintableStream text_;
    std::string out_;
};

// Writes `text` over the last line of standard error that this wrote, which must be a terminal; nothing clears it.
void overwrite_line(const std::string& text);

} // namespace fourfold::cli
