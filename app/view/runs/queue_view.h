// SPDX-License-Identifier: GPL-3.0-or-later
// The queue of runs as window and terminal show it, and what is done to it there.
#pragma once

#include "core/report/table/table.h"
#include "runner/queue/run_queue.h"

#include <string>

namespace fourfold::view {

class QueueView {
public:
    static constexpr int kBetweenLooks = 1000; // milliseconds: other programs change it, too

    // Reads the queue; whether what is shown changed. What cannot be read leaves what was there, and summary() says so.
    bool look();
    [[nodiscard]] const QueueContents& contents() const { return contents_; }
    [[nodiscard]] const Table& table() const { return table_; } // a row per run of contents()
    // "2 runs wait, 1 goes on; nothing starts them now", or what keeps it from being read.
    [[nodiscard]] const std::string& summary() const { return summary_; }
    // Nothing that waits is started: toggle() goes on, else it pauses.
    [[nodiscard]] bool rests() const { return contents_.paused || stalled_; }
    [[nodiscard]] bool has_ended() const; // some run
    [[nodiscard]] bool is_live() const; // some run waits or goes on

    static bool can_move(const QueuedRun& run) { return run.state == TurnState::waiting; }
    static bool can_remove(const QueuedRun& run) { return run.state != TurnState::taken || run.run.empty(); }

    // All of these look again, also where they fail.
    Expected<std::int64_t> add(const RunRequest& request); // its number; it is started when its turn comes
    Expected<void> move(std::int64_t number, int places); // negative: earlier
    Expected<void> remove(std::int64_t number);
    Expected<void> toggle();
    Expected<void> clear();

private:
    template <typename Outcome>
    Outcome looked(Outcome outcome)
    {
        changed_here_ = true;
        look();
        return outcome;
    }

    RunQueue queue_;
    QueueContents contents_;
    Table table_;
    std::string summary_;
    bool stalled_ = false;
    bool changed_here_ = false; // who gives the turns may be just starting
};

} // namespace fourfold::view
