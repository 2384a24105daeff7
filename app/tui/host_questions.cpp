// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/host_questions.h"

namespace fourfold::tui {

void ask_host_key(Desk& desk, const HostKeyQuestion& question, std::function<void(bool trusted)> answer)
{
    const auto say = [answer = std::move(answer)](bool trusted) { return [answer, trusted] { answer(trusted); }; };
    desk.open(std::make_unique<Question>("Unknown host",
        question.host + " shows a key of type " + question.key_type + " that was never seen here:\n"
            + question.fingerprint + "\nCompare it with what the host's owner says.",
        std::vector<Question::Choice>{
            {U'n', "refuse it", say(false)}, {U't', "trust it from now on", say(true)}, {U'c', "refuse", say(false)}}));
}

void ask_secret(
    Desk& desk, const SecretQuestion& question, std::function<void(const std::optional<std::string>&)> answer)
{
    auto prompt = std::make_unique<Prompt>(
        question.host + ": " + question.prompt, "",
        [answer](const std::string& text) {
            answer(text);
            return std::string();
        },
        !question.echo);
    prompt->or_else([answer] { answer({}); });
    prompt->explain("Used once, stored nowhere");
    desk.open(std::move(prompt));
}

} // namespace fourfold::tui
