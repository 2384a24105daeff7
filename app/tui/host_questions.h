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
// Nothing: declined.
void ask_secret(
    Desk& desk, const SecretQuestion& question, std::function<void(const std::optional<std::string>&)> answer);

} // namespace fourfold::tui
