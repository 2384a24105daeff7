// SPDX-License-Identifier: GPL-3.0-or-later
// What a connection may have to ask its user, and the passphrases that were given, kept in memory that is never swapped
// out, for as long as the program runs.
#pragma once

#include "runner/ssh/questions.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct SshPrompts {
    std::function<bool(const HostKeyQuestion&)> trust_host_key; // asked for unknown keys only
    std::function<std::optional<std::string>(const SecretQuestion&)> secret; // nothing = the user declines
    std::function<void(const std::string& host, const std::string& text)>
        note; // what a user should know of a connection
    std::function<void()> right; // what was answered to `secret` was right; may be empty
};

// A secret at one place in memory that is never swapped out, overwritten before it is given back.
class KeptSecret {
public:
    explicit KeptSecret(std::string& taken); // which is forgotten
    ~KeptSecret();
    KeptSecret(const KeptSecret&) = delete;
    KeptSecret& operator=(const KeptSecret&) = delete;
    [[nodiscard]] const char* text() const { return text_.data(); }

private:
    std::vector<char> text_; // with its end
};

// Passphrases of key files, each asked once however many hosts want it.
class Passphrases {
public:
    static Passphrases& of_this_program();

    // Calls `works` with each passphrase known so far, then with the user's answers (three at most), until it returns
    // true. One caller at a time, so that hosts that connect together ask once. False when none worked.
    bool try_each(
        const std::function<bool(const char*)>& works, const std::function<std::optional<std::string>()>& ask);

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<const KeptSecret>> known_;
};

// Overwrites the text before its memory is given back.
void forget(std::string& secret);

} // namespace fourfold
