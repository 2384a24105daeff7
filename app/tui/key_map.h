// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that a person chose. Two letters change places, so that every letter does something and nothing is out of reach.
#pragma once

#include "core/base/json.h"

#include <map>
#include <string>
#include <string_view>

namespace fourfold::tui {

class KeyMap {
public:
    [[nodiscard]] char32_t meant(char32_t typed) const; // the letter that pages know
    [[nodiscard]] char32_t typed(char32_t meant) const; // what to press for it
    // `typed` does from now on what pages know as `meant`; what it did is where that was.
    void give(char32_t meant, char32_t typed);
    void forget() { meant_.clear(); }
    // "s start  x stop" and "< >" with the letters that are to be pressed.
    [[nodiscard]] std::string shown(const std::string& hints) const;
    // A sentence whose keys stand in backquotes, "`s` starts it", with what is to be pressed, without those.
    [[nodiscard]] std::string said(std::string_view text) const;
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    std::map<char32_t, char32_t> meant_; // by typed letter; a permutation of its keys
};

} // namespace fourfold::tui
