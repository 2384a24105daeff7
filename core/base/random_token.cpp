// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/random_token.h"

#include <sys/random.h>

namespace fourfold {

std::string random_token(std::size_t bytes)
{
    std::string raw(bytes, '\0'), text;
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got = getrandom(raw.data() + done, bytes - done, 0);
        done += got > 0 ? static_cast<std::size_t>(got) : 0; // interrupted by a signal
    }
    for (const char byte : raw) {
        const auto value = static_cast<unsigned char>(byte);
        text += "0123456789abcdef"[value >> 4];
        text += "0123456789abcdef"[value & 15];
    }
    return text;
}

} // namespace fourfold
