// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/osc.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <sodium.h>

namespace fourfold::tui {

namespace {
constexpr std::size_t kScreenPiece = 240; // of a string that GNU screen hands on; it holds 256

std::string base64(std::string_view bytes)
{
    std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
        sodium_base64_VARIANT_ORIGINAL);
    text.pop_back(); // the end that C wants
    return text;
}

// To the terminal behind it.
std::string through(const std::string& request, Multiplexer between)
{
    if (between == Multiplexer::none)
        return request;
    std::string wrapped;
    if (between == Multiplexer::tmux) { // allow-passthrough
        wrapped = "\033Ptmux;";
        for (const char byte : request)
            wrapped.append(byte == '\033' ? 2 : 1, byte);
        return wrapped + "\033\\";
    }
    for (std::size_t at = 0; at < request.size(); at += kScreenPiece)
        wrapped += "\033P" + request.substr(at, kScreenPiece) + "\033\\";
    return wrapped;
}
} // namespace

Multiplexer multiplexer_here()
{
    const char* const type = std::getenv("TERM");
    const char* const tmux = std::getenv("TMUX"); // also where TERM is screen's
    const std::string_view name = type == nullptr ? "" : type;
    if (name.starts_with("tmux") || (tmux != nullptr && *tmux != '\0'))
        return Multiplexer::tmux;
    return name.starts_with("screen") ? Multiplexer::screen : Multiplexer::none;
}

std::string notification(const std::string& title, const std::string& text, Multiplexer between)
{
    constexpr std::size_t kMost = 200; // bytes of each
    const std::string about = printable(title, kMost), words = printable(text, kMost);
    std::string apart = about; // OSC 777 has its parts between semicolons
    std::ranges::replace(apart, ';', ',');
    return through("\033]9;" + about + (words.empty() ? "" : ": " + words) + "\a", between)
        + through("\033]777;notify;" + apart + ";" + words + "\a", between);
}

std::string clipboard(const std::string& text, Multiplexer between)
{
    return through("\033]52;c;" + base64(std::string_view(text).substr(0, kMostCopied)) + "\a",
        between == Multiplexer::screen ? between : Multiplexer::none);
}

} // namespace fourfold::tui
