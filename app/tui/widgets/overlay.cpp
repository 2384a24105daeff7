// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/overlay.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace fourfold::tui {

Rect draw_frame(Canvas& canvas, int rows, int columns, const std::string& title)
{
    rows = std::min(rows + 2, canvas.rows());
    columns = std::min(columns + 4, canvas.columns());
    const Rect frame{(canvas.rows() - rows) / 2, (canvas.columns() - columns) / 2, rows, columns};
    canvas.fill(frame, U' ');
    const int last_row = frame.row + rows - 1, last_column = frame.column + columns - 1;
    for (int column = frame.column + 1; column < last_column; ++column)
        for (const int row : {frame.row, last_row})
            canvas.put(row, column, U'\u2500', kAccent);
    for (int row = frame.row + 1; row < last_row; ++row)
        for (const int column : {frame.column, last_column})
            canvas.put(row, column, U'\u2502', kAccent);
    canvas.put(frame.row, frame.column, U'\u250c', kAccent);
    canvas.put(frame.row, last_column, U'\u2510', kAccent);
    canvas.put(last_row, frame.column, U'\u2514', kAccent);
    canvas.put(last_row, last_column, U'\u2518', kAccent);
    canvas.text_in(frame.row, frame.column + 2, columns - 4, " " + title + " ", kHeading);
    canvas.cursor_row = -1;
    return {frame.row + 1, frame.column + 2, rows - 2, columns - 4};
}

Picker::Picker(std::string title, std::vector<Item> items, int selected)
    : title_(std::move(title))
    , items_(std::move(items))
{
    filter();
    list_.selected = selected;
}

// What begins with a word comes before what has it inside.
void Picker::filter()
{
    std::istringstream stream(lower_case(words_.text()));
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    std::vector<std::pair<int, std::size_t>> found;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::string text = lower_case(items_[i].text), detail = lower_case(items_[i].detail);
        int score = 0;
        const bool has_all = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            const std::size_t at = text.find(word);
            if (at == std::string::npos)
                return detail.find(word) != std::string::npos;
            score += text == word ? 8 : at == 0 ? 4 : text[at - 1] == ' ' ? 3 : 1;
            return true;
        });
        if (has_all)
            found.emplace_back(-score, i);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    visible_.clear();
    for (const auto& [score, index] : found)
        visible_.push_back(index);
    list_.selected = 0;
}

void Picker::draw(Canvas& canvas, const Look&)
{
    int text_columns = 0, detail_columns = 0;
    for (const Item& item : items_) {
        text_columns = std::max(text_columns, width_of(item.text));
        detail_columns = std::max(detail_columns, width_of(item.detail));
    }
    const int widest = std::max(width_of(title_), text_columns + (detail_columns > 0 ? detail_columns + 2 : 0)) + 2;
    const int columns = std::clamp(widest, 40, std::max(40, std::min(canvas.columns() - 4, 100)));
    const int rows = std::clamp(static_cast<int>(items_.size()) + 2, 4, canvas.rows() - 4);
    const Rect inside = draw_frame(canvas, rows, columns, title_);
    if (text_columns + detail_columns + 4 > inside.columns) // the details have at least a third
        text_columns = std::min(text_columns, std::max(inside.columns - detail_columns - 4, inside.columns * 2 / 3));
    const int begin = canvas.text(inside.row, inside.column, "/ ", kMuted);
    words_.draw(canvas, inside.row, begin, inside.columns - 2);
    const int shown = inside.rows - 1;
    list_.fit(static_cast<int>(visible_.size()), shown);
    place_ = {inside.row + 1, inside.column, shown, inside.columns};
    if (visible_.empty())
        canvas.text(inside.row + 1, inside.column, "nothing has these words", kMuted);
    for (int i = 0; i < shown && list_.top + i < static_cast<int>(visible_.size()); ++i) {
        const Item& item = items_[visible_[static_cast<std::size_t>(list_.top + i)]];
        const int row = inside.row + 1 + i;
        canvas.text_in(row, inside.column + 1, item.detail.empty() ? inside.columns - 2 : text_columns, item.text);
        if (!item.detail.empty())
            canvas.text_in(
                row, inside.column + text_columns + 3, inside.columns - text_columns - 4, item.detail, kMuted);
        if (list_.top + i == list_.selected)
            canvas.restyle({row, inside.column, 1, inside.columns}, kReverse);
    }
}

void Picker::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c') || key.is_ctrl('k')) {
        close();
    } else if (key.code == Key::enter) {
        if (!visible_.empty())
            close(items_[visible_[static_cast<std::size_t>(list_.selected)]].run);
    } else if (const auto again = list_.click(key, place_, static_cast<int>(visible_.size()))) {
        if (*again)
            close(items_[visible_[static_cast<std::size_t>(list_.selected)]].run);
    } else if (key.code != Key::character && key.code != Key::home && key.code != Key::end
        && list_.key(key, static_cast<int>(visible_.size()))) {
        return;
    } else if (key.is_ctrl('n') || key.is_ctrl('p')) {
        list_.key({key.letter == 'n' ? Key::down : Key::up}, static_cast<int>(visible_.size()));
    } else if (words_.key(key)) {
        filter();
    }
}

std::string Picker::read_out()
{
    constexpr std::size_t kMost = 20;
    std::string text = title_ + (words_.text().empty() ? "" : ", with " + in_quotes(words_.text())) + ": "
        + (visible_.empty() ? "nothing has these words" : "a number takes one, words leave fewer, esc leaves") + "\n";
    for (std::size_t i = 0; i < std::min(visible_.size(), kMost); ++i) {
        const Item& item = items_[visible_[i]];
        text += text_of("%zu ", i + 1) + item.text + (item.detail.empty() ? "" : ", " + item.detail) + "\n";
    }
    if (visible_.size() > kMost)
        text += text_of("and %zu more\n", visible_.size() - kMost);
    return text;
}

void Picker::answer(const std::string& line)
{
    const std::string_view words = trimmed(line);
    std::size_t number = 0;
    const auto [end, bad] = std::from_chars(words.data(), words.data() + words.size(), number);
    if (words.empty() || words == kLeaves) {
        close();
        return;
    }
    if (bad == std::errc() && end == words.data() + words.size() && number >= 1 && number <= visible_.size()) {
        close(items_[visible_[number - 1]].run);
        return;
    }
    words_.set(std::string(words));
    filter();
    if (visible_.size() == 1)
        close(items_[visible_.front()].run);
}

Prompt::Prompt(std::string title, std::string text, Accept accept, bool hidden)
    : title_(std::move(title))
    , line_(std::move(text), hidden)
    , accept_(std::move(accept))
    , hidden_(hidden)
{
}

Prompt& Prompt::or_else(std::function<void()> declined)
{
    declined_ = std::move(declined);
    return *this;
}

Prompt& Prompt::explain(std::string note)
{
    note_ = std::move(note);
    return *this;
}

Prompt& Prompt::replaces()
{
    line_.choose_all();
    return *this;
}

Prompt& Prompt::complete(std::function<Offer(const std::string&, std::size_t)> offer)
{
    offer_ = std::move(offer);
    return *this;
}

void Prompt::go_on()
{
    constexpr std::size_t kMost = 24; // words that are listed
    const Offer offer = offer_(line_.text(), line_.cursor());
    if (offer.words.empty()) {
        offered_ = "nothing goes on so";
        return;
    }
    std::string common = offer.words.front();
    for (const std::string& word : offer.words)
        common.resize(static_cast<std::size_t>(
            std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first - common.begin()));
    if (common.size() > line_.cursor() - std::min(offer.begin, line_.cursor()))
        line_.replace(offer.begin, common);
    offered_ = offer.words.size() == 1
        ? std::string()
        : joined({offer.words.begin(),
                     offer.words.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, offer.words.size()))},
              "  ")
            + (offer.words.size() > kMost ? "  ..." : "");
}

void Prompt::draw(Canvas& canvas, const Look&)
{
    const int columns = std::min(canvas.columns() - 6, 76);
    const std::string below = !refusal_.empty() ? refusal_ : !offered_.empty() ? offered_ : note_;
    std::vector<std::string> lines = below.empty() ? std::vector<std::string>() : wrapped(below, columns);
    const Rect inside = draw_frame(canvas, 2 + static_cast<int>(lines.size()), columns, title_);
    line_.draw(canvas, inside.row, inside.column, inside.columns, {Ink::normal, Ink::normal, false, false, true});
    int row = inside.row + 1;
    for (const std::string& line : lines)
        canvas.text(row++, inside.column, line, refusal_.empty() ? kMuted : style_of(view::Tone::bad));
    canvas.text_in(row, inside.column, inside.columns,
        offer_ ? "Enter takes it, Tab completes, Esc leaves it" : "Enter takes it, Esc leaves it", kMuted);
}

void Prompt::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c')) {
        close(declined_);
    } else if (key.code == Key::enter) {
        // What it does comes after it is gone: it may open something itself.
        const std::string text = line_.text();
        refusal_ = accept_(text);
        if (refusal_.empty())
            close();
    } else if (key.code == Key::tab && offer_) {
        refusal_.clear();
        go_on();
    } else if (line_.key(key)) {
        refusal_ = line_.refusal();
        offered_.clear();
    }
}

std::string Prompt::read_out()
{
    std::string text = refusal_.empty() ? "" : refusal_ + "\n";
    text += title_ + ": " + (note_.empty() ? "" : note_ + ". ");
    if (!hidden_ && !line_.text().empty())
        text += "An empty line takes " + in_quotes(line_.text()) + ", a dash nothing; ";
    return text + "esc leaves\n";
}

void Prompt::answer(const std::string& line)
{
    if (trimmed(line) == kLeaves) {
        close(declined_);
        return;
    }
    if (hidden_ || !line.empty())
        line_.set(!hidden_ && trimmed(line) == "-" ? std::string() : line);
    key({Key::enter});
}

Question::Question(std::string title, std::string text, std::vector<Choice> choices)
    : title_(std::move(title))
    , text_(std::move(text))
    , choices_(std::move(choices))
{
}

void Question::draw(Canvas& canvas, const Look&)
{
    const int columns = std::min(canvas.columns() - 6, 72);
    std::vector<std::string> letters;
    std::vector<Rect> places; // within the frame; in as many rows as they need
    int last = 0, right = 0;
    for (const Choice& choice : choices_) {
        append_utf8(letters.emplace_back(), choice.letter);
        const int width = width_of(letters.back()) + width_of(choice.text) + 3;
        if (right > 0 && right + width > columns) {
            ++last;
            right = 0;
        }
        places.push_back({last, right, 1, width});
        right += width + 1;
    }
    std::vector<std::string> lines = wrapped(text_, columns);
    const int most = std::max(1, canvas.rows() - 6 - last);
    if (static_cast<int>(lines.size()) > most) {
        lines.resize(static_cast<std::size_t>(most));
        lines.back() = "\u2026";
    }
    const Rect inside = draw_frame(canvas, static_cast<int>(lines.size()) + 2 + last, columns, title_);
    int row = inside.row;
    for (const std::string& line : lines)
        canvas.text_in(row++, inside.column, inside.columns, line);
    const int first = row + 1;
    places_.clear();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const std::string& letter = letters[i];
        const int begin = inside.column + places[i].column;
        row = first + places[i].row;
        int column = canvas.text(row, begin, " " + letter + " ", kHeading);
        column = canvas.text(row, column, choices_[i].text + " ");
        if (static_cast<int>(i) == selected_)
            canvas.restyle({row, begin, 1, column - begin}, kReverse);
        places_.push_back({row, begin, 1, column - begin});
    }
}

void Question::key(const Key& key)
{
    if (key.code == Key::escape || key.is_ctrl('c')) {
        close(choices_.back().run);
        return;
    }
    const int count = static_cast<int>(choices_.size());
    if (key.code == Key::right || key.code == Key::tab || key.code == Key::down)
        selected_ = (selected_ + 1) % count;
    else if (key.code == Key::left || key.code == Key::back_tab || key.code == Key::up)
        selected_ = (selected_ + count - 1) % count;
    else if (key.code == Key::enter)
        close(choices_[static_cast<std::size_t>(selected_)].run);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const bool clicked = key.code == Key::click && i < places_.size() && places_[i].contains(key.row, key.column);
        if (clicked || key.is(choices_[i].letter))
            close(choices_[i].run);
    }
}

std::string Question::read_out()
{
    std::string text = title_ + ": " + text_ + "\n";
    for (const Choice& choice : choices_) {
        append_utf8(text, choice.letter);
        text += ": " + choice.text + "\n";
    }
    return text;
}

// A letter of it; anything else is asked again, as nothing is done by mistake.
void Question::answer(const std::string& line)
{
    std::string_view word = trimmed(line);
    if (word == kLeaves)
        key({Key::escape});
    else if (!word.empty())
        key({Key::character, next_character(word)});
}

} // namespace fourfold::tui
