// SPDX-License-Identifier: GPL-3.0-or-later
// What stands over a page and has the keys until it is done: pickers, prompts, questions, texts.
#pragma once

#include "app/tui/look.h"
#include "app/tui/terminal/key.h"
#include "app/tui/widgets/input_line.h"
#include "app/tui/widgets/list.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::tui {

class Overlay {
public:
    virtual ~Overlay() = default;
    virtual void draw(Canvas& canvas, const Look& look) = 0;
    // Without a screen: what it says, in lines, with what may be answered; and an answer typed as a line.
    [[nodiscard]] virtual std::string read_out() = 0;
    virtual void answer(const std::string& line) = 0;
    [[nodiscard]] virtual bool hides_answer() const { return false; } // a secret is not to be seen
    [[nodiscard]] virtual bool only_tells() const { return false; } // it is over once it was read
    // Its keys, in the line at the bottom, where it does not name them itself.
    [[nodiscard]] virtual std::string hints() const { return {}; }
    // For the clipboard (y); empty: none.
    [[nodiscard]] virtual std::string copied() const { return {}; }
    // Takes what came from threads; may open another over it.
    virtual void tick() { }
    // Milliseconds after which tick() is wanted; negative: only when woken.
    [[nodiscard]] virtual int next_tick() const { return -1; }
    // Takes every key. What has to be done when it is over is done by done().
    virtual void key(const Key& key) = 0;
    virtual void drag(const Key&) { } // of the mouse, and its end
    [[nodiscard]] bool is_over() const { return over_; }
    // Called once, after the overlay is gone from the stack; it may open another.
    std::function<void()> done;

protected:
    void close(std::function<void()> then = {})
    {
        over_ = true;
        done = std::move(then);
    }

private:
    bool over_ = false;
};

// What leaves an overlay without an answer where there are only lines to type.
inline constexpr std::string_view kLeaves = "esc";

// A frame with a title in the middle of the canvas; returns the place inside.
Rect draw_frame(Canvas& canvas, int rows, int columns, const std::string& title);

// A list of which typing leaves what has every word; Enter takes one.
class Picker : public Overlay {
public:
    struct Item {
        std::string text, detail;
        std::function<void()> run;
    };
    Picker(std::string title, std::vector<Item> items, int selected = 0);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] std::string hints() const override
    {
        return "letters leave what has them  arrows choose  Enter takes it  Esc leaves";
    }

    [[nodiscard]] bool finds_nothing() const { return visible_.empty(); }

private:
    void filter();

    std::string title_;
    std::vector<Item> items_;
    std::vector<std::size_t> visible_;
    InputLine words_;
    List list_;
    Rect place_; // of the list, as drawn last
};

// One line to type. `accept` returns why the text will not do, or an empty text.
class Prompt : public Overlay {
public:
    using Accept = std::function<std::string(const std::string& text)>;
    Prompt(std::string title, std::string text, Accept accept, bool hidden = false);
    // Where the prompt is left without an answer.
    Prompt& or_else(std::function<void()> declined);
    Prompt& explain(std::string note);
    // What is typed first takes the place of the text: of a value, of which another is wanted.
    Prompt& replaces();
    // Tab goes on with what all words have in common that may stand at the cursor, and lists them; `words` says where
    // the word begins that it replaces.
    struct Offer {
        std::size_t begin = 0; // byte of the text
        std::vector<std::string> words;
    };
    Prompt& complete(std::function<Offer(const std::string& text, std::size_t cursor)> offer);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] bool hides_answer() const override { return hidden_; }

private:
    void go_on(); // completes

    std::string title_, note_, refusal_, offered_;
    InputLine line_;
    Accept accept_;
    std::function<Offer(const std::string&, std::size_t)> offer_;
    bool hidden_;
    std::function<void()> declined_;
};

// A text and what may be done about it, each by its letter; Escape does the last.
class Question : public Overlay {
public:
    struct Choice {
        char32_t letter;
        std::string text;
        std::function<void()> run;
    };
    Question(std::string title, std::string text, std::vector<Choice> choices);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] std::string hints() const override { return "a letter, or arrows and Enter, answers"; }

private:
    std::string title_, text_;
    std::vector<Choice> choices_;
    std::vector<Rect> places_; // of these, as drawn last
    int selected_ = 0;
};

// A text to read, as long as it likes.
class Pager : public Overlay {
public:
    Pager(std::string title, std::string text);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] bool only_tells() const override { return true; }
    [[nodiscard]] std::string copied() const override { return text_; }
    [[nodiscard]] std::string hints() const override { return "j k line  Space page  g G ends  y copy  Esc close"; }
    static int columns_in(const Canvas& canvas) { return std::min(canvas.columns() - 4, 100); } // of its text
    void go_to_end() { top_ = kEnd; } // what was written last is looked at first

private:
    static constexpr int kEnd = 1'000'000'000; // more lines than there are

    std::string title_, text_;
    std::vector<std::string> lines_;
    int columns_ = 0, top_ = 0, rows_ = 1;
};

} // namespace fourfold::tui
