// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_prompt.h"

#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <utility>

namespace fourfold {

namespace {
constexpr int kMostAnswers = 3;
}

void forget(std::string& secret)
{
    explicit_bzero(secret.data(), secret.size());
    secret.clear();
}

KeptSecret::KeptSecret(std::string& taken)
    : text_(taken.begin(), taken.end())
{
    text_.push_back('\0');
    mlock(text_.data(), text_.size());
    forget(taken);
}

KeptSecret::~KeptSecret()
{
    explicit_bzero(text_.data(), text_.size());
    munlock(text_.data(), text_.size());
}

Passphrases& Passphrases::of_this_program()
{
    static Passphrases kPassphrases;
    return kPassphrases;
}

bool Passphrases::try_each(
    const std::function<bool(const char*)>& works, const std::function<std::optional<std::string>()>& ask)
{
    const std::lock_guard lock(mutex_);
    for (const auto& passphrase : known_) {
        if (works(passphrase->text()))
            return true;
    }
    for (int answers = 0; ask && answers < kMostAnswers; ++answers) {
        auto answer = ask();
        if (!answer)
            return false;
        auto kept = std::make_unique<const KeptSecret>(*answer);
        if (works(kept->text())) {
            known_.push_back(std::move(kept));
            return true;
        }
    }
    return false;
}

} // namespace fourfold
