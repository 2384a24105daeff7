// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/key_map.h"

#include "app/tui/terminal/canvas.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fourfold::tui {

char32_t KeyMap::meant(char32_t typed) const
{
    const auto found = meant_.find(typed);
    return found == meant_.end() ? typed : found->second;
}

char32_t KeyMap::typed(char32_t meant) const
{
    const auto found = std::ranges::find_if(meant_, [meant](const auto& pair) { return pair.second == meant; });
    return found == meant_.end() ? meant : found->first;
}

void KeyMap::give(char32_t meant, char32_t typed)
{
    const char32_t before = this->typed(meant), did = this->meant(typed);
    meant_[typed] = meant;
    meant_[before] = did;
    std::erase_if(meant_, [](const auto& pair) { return pair.first == pair.second; });
}

std::string KeyMap::shown(const std::string& hints) const
{
    std::string out;
    for (std::size_t begin = 0; begin < hints.size();) {
        const std::size_t end = std::min(hints.find(' ', begin), hints.size());
        const std::string word = hints.substr(begin, end - begin);
        std::string_view rest = word;
        const char32_t letter = rest.empty() ? 0 : next_character(rest);
        if (letter != 0 && rest.empty())
            append_utf8(out, typed(letter));
        else
            out += word;
        if (end < hints.size())
            out += ' ';
        begin = end + 1;
    }
    return out;
}

std::string KeyMap::said(std::string_view text) const
{
    std::string out;
    while (!text.empty()) {
        const std::size_t begin = text.find('`');
        const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
        if (end == std::string_view::npos)
            break;
        out += text.substr(0, begin);
        out += shown(std::string(text.substr(begin + 1, end - begin - 1)));
        text.remove_prefix(end + 1);
    }
    return out.append(text);
}

Json KeyMap::state() const
{
    Json state = Json::object();
    for (const auto& [typed, meant] : meant_) {
        std::string key, value;
        append_utf8(key, typed);
        append_utf8(value, meant);
        state[key] = value;
    }
    return state;
}

// What is no permutation of letters any more was changed by hand, and is left out.
void KeyMap::restore(const Json& state)
{
    if (!state.is_object())
        return;
    std::map<char32_t, char32_t> read;
    std::set<char32_t> values;
    for (const auto& [key, value] : state.items()) {
        std::string_view typed = key;
        const std::string text = value.is_string() ? value.get<std::string>() : std::string();
        std::string_view meant = text;
        if (typed.empty() || meant.empty())
            return;
        const char32_t from = next_character(typed), to = next_character(meant);
        if (!typed.empty() || !meant.empty() || !values.insert(to).second)
            return;
        read[from] = to;
    }
    if (std::ranges::all_of(read, [&](const auto& pair) { return values.contains(pair.first); }))
        meant_ = std::move(read);
}

} // namespace fourfold::tui
