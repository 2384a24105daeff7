// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_prompt.h"

#include <sys/mman.h>

#include <cstring>

namespace fourfold {

namespace {
constexpr int kMostAnswers = 3;
}

void forget(std::string& secret)
{
    explicit_bzero(secret.data(), secret.size());
    secret.clear();
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
    for (const auto* passphrase : known_) {
        if (works(passphrase->data()))
            return true;
    }
    for (int answers = 0; ask && answers < kMostAnswers; ++answers) {
        auto answer = ask();
        if (!answer)
            return false;
        // Lives until the program ends, at one place.
        auto* kept = new std::vector<char>(answer->begin(), answer->end());
        kept->push_back('\0');
        mlock(kept->data(), kept->size());
        forget(*answer);
        if (works(kept->data())) {
            known_.push_back(kept);
            return true;
        }
        explicit_bzero(kept->data(), kept->size());
        munlock(kept->data(), kept->size());
        delete kept;
    }
    return false;
}

} // namespace fourfold
