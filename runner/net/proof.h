// SPDX-License-Identifier: GPL-3.0-or-later
// How the two ends of a connection show each other that they know a token, which never travels itself: each answers
// the other's random challenge with an HMAC (libsodium's crypto_auth) under a key made of the token and of what the
// connection is for. The one that connects proves first, so that nobody gets an answer for knocking.
#pragma once

#include "core/base/expected.h"
#include "runner/net/socket.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace fourfold {

// What random_token(32) gives: 64 hexadecimal digits.
inline constexpr std::size_t kTokenBytes = 32;
bool is_token(std::string_view text);

// What a connection is for: a proof for one is none for another.
inline constexpr std::string_view kForRendezvous = "rendezvous", kForProbe = "probe", kForFiles = "files";

// One end of the exchange of messages:
//   who connects: hello (a fixed word and a challenge); who listens: a challenge;
//   who connects: its proof;                            who listens: its proof.
class Proof {
public:
    static constexpr std::size_t kBytes = 32; // of a challenge and of a proof
    static constexpr std::string_view kWord = "4FOLD-1\n";
    using Block = std::array<char, kBytes>;

    // Precondition: is_token(token). The challenge is new with every object.
    Proof(std::string_view token, std::string_view purpose);

    [[nodiscard]] const Block& challenge() const { return challenge_; }
    // After both challenges are known: the proof of who connects and of who listens.
    [[nodiscard]] Block of_client(const Block& client, const Block& server) const;
    [[nodiscard]] Block of_server(const Block& client, const Block& server) const;

private:
    [[nodiscard]] Block answer(char role, const Block& client, const Block& server) const;

    Block key_{}, challenge_{};
};

// Equal, in a time that does not depend on where they differ.
bool same_block(const Proof::Block& a, const Proof::Block& b);

// The end that connects. Fails with `network` when the other end went away or was silent, `refused` when it closed the
// connection on our proof, `conflict` when it does not know the token itself.
Expected<void> prove(int fd, std::string_view token, std::string_view purpose, Deadline deadline);

} // namespace fourfold
