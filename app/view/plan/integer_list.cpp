// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/integer_list.h"

#include "core/base/text.h"

#include <charconv>

namespace fourfold::view {

namespace {
constexpr const char* kTimes = "\u00d7";
constexpr std::size_t kMostNumbers = 1 << 13; // of chunks

Expected<int> whole_number(const std::string& word, const std::string& path)
{
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc() || end != word.data() + word.size() || number < 0)
        return Problem{ProblemCode::bad_input,
            "found " + in_quotes(word) + ", expected whole numbers such as 10, 10, 11 or 3 x 10, 11", "", path};
    return number;
}

// Numbers, and x for a cross, apart.
std::vector<std::string> list_words_of(std::string text)
{
    for (std::size_t at; (at = text.find(kTimes)) != std::string::npos;)
        text.replace(at, std::string_view(kTimes).size(), "x");
    std::vector<std::string> words;
    bool fresh = true; // the next digit begins a number
    for (const char c : text) {
        if (c == ' ' || c == ',' || c == '[' || c == ']') {
            fresh = true;
        } else if (c == 'x' || c == '*') {
            words.emplace_back("x");
            fresh = true;
        } else {
            if (fresh)
                words.emplace_back();
            words.back() += c;
            fresh = false;
        }
    }
    return words;
}
} // namespace

std::string integer_list_text(const std::vector<int>& numbers)
{
    constexpr std::size_t kFew = 8;
    std::vector<std::string> parts;
    for (std::size_t i = 0, next = 0; i < numbers.size(); i = next) {
        next = i + 1;
        while (next < numbers.size() && numbers[next] == numbers[i])
            ++next;
        if (numbers.size() > kFew && next - i > 1)
            parts.push_back(std::to_string(next - i) + " " + kTimes + " " + std::to_string(numbers[i]));
        else
            parts.insert(parts.end(), next - i, std::to_string(numbers[i]));
    }
    return joined(parts, ", ");
}

Expected<Json> parse_integer_list(const std::string& path, const std::string& text)
{
    const std::vector<std::string> words = list_words_of(text);
    if (words.empty())
        return Json();
    Json list = Json::array();
    for (std::size_t i = 0; i < words.size(); ++i) {
        FOURFOLD_TRY(int number, whole_number(words[i], path));
        std::size_t times = 1;
        if (i + 2 < words.size() && words[i + 1] == "x") {
            times = static_cast<std::size_t>(number);
            FOURFOLD_TRY(number, whole_number(words[i + 2], path));
            i += 2;
        }
        if (times == 0 || list.size() + times > kMostNumbers)
            return Problem{
                ProblemCode::bad_input, "expected 1 to " + std::to_string(kMostNumbers) + " numbers", "", path};
        for (std::size_t n = 0; n < times; ++n)
            list.push_back(number);
    }
    return list;
}

} // namespace fourfold::view
