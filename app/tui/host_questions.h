// SPDX-License-Identifier: GPL-3.0-or-later
// What a host asks before it lets anybody in, asked over the page.
#pragma once

#include "app/tui/desk.h"
#include "runner/ssh/questions.h"

#include <functional>
#include <optional>
#include <string>

namespace fourfold::tui {

void ask_host_key(Desk& desk, const HostKeyQuestion& question, std::function<void(bool trusted)> answer);
// `answer` with nothing: declined. As long as `is_checking` says that nobody knows yet whether the answer was right,
// keys go nowhere: what is typed then may be the secret once more. Both may outlive what they ask.
void ask_secret(Desk& desk, const SecretQuestion& question,
    std::function<void(const std::optional<std::string>&)> answer, std::function<bool()> is_checking);

} // namespace fourfold::tui
