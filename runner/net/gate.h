// SPDX-License-Identifier: GPL-3.0-or-later
// The door of a listening socket: connections that have not proved the token wait here, in bounded number and time,
// and never in the way of one that does.
#pragma once

#include "runner/net/proof.h"

#include <list>
#include <optional>
#include <vector>

namespace fourfold {

class Gate {
public:
    static constexpr std::size_t kMostStrangers = 256;
    static constexpr double kPatience = 10; // seconds for the proof
    // What a stranger has for sure. When all places are taken, the one that came first makes room after that.
    static constexpr double kGrace = 1;

    // Precondition: is_token(token).
    Gate(FileDescriptor listener, std::string token, std::string_view purpose);

    // Readable when admit() has something to do.
    [[nodiscard]] int fd() const { return poll_.get(); }
    // Until admit() is to be called even if nothing comes: milliseconds as poll() takes them, -1 without an end.
    [[nodiscard]] int patience_ms() const;
    // Goes on with everybody at the door, without waiting: who has proved the token, non-blocking and close-on-exec.
    std::vector<FileDescriptor> admit();
    // Waits for one at most so long.
    std::optional<FileDescriptor> next(Deadline deadline);

private:
    struct Stranger {
        FileDescriptor fd;
        Deadline came;
        Proof proof;
        std::string said;
        Proof::Block challenge{}; // theirs
    };
    using Place = std::list<Stranger>::iterator;
    enum class Heard { waits, gone, admitted };

    void take_in();
    Heard hear(Stranger& stranger) const;
    void send_away_the_late();
    void listen(bool on);
    void send_away(Place place);

    FileDescriptor listener_, poll_;
    std::string token_;
    std::string_view purpose_;
    std::list<Stranger> strangers_; // in the order in which they came
    std::vector<FileDescriptor> ready_; // of next()
    bool listening_ = false;
    Deadline closed_until_{}; // while it does not listen
};

} // namespace fourfold
