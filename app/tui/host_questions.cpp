// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/host_questions.h"

#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

namespace {

using AnswerSecret = std::function<void(const std::optional<std::string>&)>;

class SecretPrompt : public Overlay {
public:
    SecretPrompt(const SecretQuestion& question, AnswerSecret answer, std::function<bool()> is_checking)
        : title_(question.host + ": " + question.prompt)
        , prompt_(
              title_, "",
              [this](const std::string& text) {
                  given_ = text;
                  return std::string();
              },
              !question.echo)
        , answer_(std::move(answer))
        , is_checking_(std::move(is_checking))
    {
        prompt_.explain(std::string(question.again ? "That was not right. " : "") + "Used once, stored nowhere");
    }
    void draw(Canvas& canvas, const Look& look) override
    {
        if (!checking_) {
            prompt_.draw(canvas, look);
            return;
        }
        const Rect inside = draw_frame(canvas, 2, std::min(canvas.columns() - 6, 76), title_);
        canvas.text_in(inside.row, inside.column, inside.columns, kChecking);
        canvas.text_in(
            inside.row + 1, inside.column, inside.columns, "What is typed now goes nowhere; Esc leaves this", kMuted);
    }
    void key(const Key& key) override
    {
        if (!checking_) {
            prompt_.key(key);
            look_at_prompt();
        } else if (key.code == Key::escape || key.is_ctrl('c')) {
            close();
        }
    }
    void tick() override
    {
        if (checking_ && !is_checking_())
            close();
    }
    [[nodiscard]] std::string read_out() override
    {
        return checking_ ? std::string(kChecking) + "; esc leaves\n" : prompt_.read_out();
    }
    void answer(const std::string& line) override
    {
        if (!checking_) {
            prompt_.answer(line);
            look_at_prompt();
        } else if (trimmed(line) == kLeaves) {
            close();
        }
    }
    [[nodiscard]] bool hides_answer() const override { return prompt_.hides_answer(); }

private:
    static constexpr const char* kChecking = "Looking whether that is right...";
    void look_at_prompt()
    {
        if (!prompt_.is_over())
            return;
        answer_(given_);
        if (!given_)
            close();
        checking_ = given_.has_value();
        given_.reset();
    }

    std::string title_;
    std::optional<std::string> given_;
    Prompt prompt_;
    AnswerSecret answer_;
    std::function<bool()> is_checking_;
    bool checking_ = false;
};

} // namespace

void ask_host_key(Desk& desk, const HostKeyQuestion& question, std::function<void(bool trusted)> answer)
{
    const auto say = [answer = std::move(answer)](bool trusted) { return [answer, trusted] { answer(trusted); }; };
    desk.open(std::make_unique<Question>("Unknown host",
        question.host + " shows a key of type " + question.key_type + " that was never seen here:\n"
            + question.fingerprint + "\nCompare it with what the host's owner says.",
        std::vector<Question::Choice>{
            {U'n', "refuse it", say(false)}, {U't', "trust it from now on", say(true)}, {U'c', "refuse", say(false)}}));
}

void ask_secret(Desk& desk, const SecretQuestion& question,
    std::function<void(const std::optional<std::string>&)> answer, std::function<bool()> is_checking)
{
    desk.open(std::make_unique<SecretPrompt>(question, std::move(answer), std::move(is_checking)));
}

} // namespace fourfold::tui
