// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/config_file.h"

#include "core/base/input_file.h"
#include "core/base/text.h"

#include <array>
#include <string_view>

namespace fourfold {

namespace {
constexpr std::size_t kMostBytes = 64U << 20;
constexpr std::array<std::string_view, 3> kNoNumbers{"-Infinity", "Infinity", "NaN"};
} // namespace

Expected<Json> parse_config(std::string text, const std::string& where)
{
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i; // what it escapes
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            for (const std::string_view word : kNoNumbers)
                if (text.compare(i, word.size(), word) == 0) { // a text: refused where a number is read
                    text.replace(i, word.size(), in_quotes(std::string(word)));
                    i += word.size() + 1;
                    break;
                }
    }
    return parse_json(text, where);
}

Expected<Json> read_config_file(const std::filesystem::path& file, bool named)
{
    FOURFOLD_TRY(std::string text, named ? read_input(file, kMostBytes) : read_text_file(file, kMostBytes));
    return parse_config(std::move(text), printable(file.string(), 4096));
}

} // namespace fourfold
