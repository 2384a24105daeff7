// SPDX-License-Identifier: GPL-3.0-or-later
// What readers of files and streams must bear: content with bytes that nobody wrote.
#pragma once

#include <random>
#include <string>

namespace fourfold::test {

// `content`, which is not empty, with `count` bytes at random places overwritten by random ones.
inline std::string damaged(std::string content, unsigned count, std::mt19937& random)
{
    for (; count > 0; --count)
        content[random() % content.size()] = static_cast<char>(random());
    return content;
}

} // namespace fourfold::test
