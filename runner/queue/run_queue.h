// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that wait for their turn, in data_folder()/queue: they outlive the program that added them. Any number of
// programs of this user may look and change at once.
#pragma once

#include "core/base/file_descriptor.h"
#include "core/base/words.h"
#include "runner/runs/run.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// taken: a program sees to it, or saw to it and went away. ended: its run has, or there was none to be.
enum class TurnState { waiting, taken, ended };
template <>
inline constexpr auto kWords<TurnState> = std::to_array<std::string_view>({"waiting", "taken", "ended"});

struct QueuedRun {
    std::int64_t number = 0; // from 1 on, never given twice
    TurnState state = TurnState::waiting;
    std::string added; // UTC, "2026-01-01T00:00:00.000Z"
    Json plan; // resolved, with everything that it took from presets
    std::string where; // the plan's file, for messages
    Target target;
    std::optional<int> steps;
    int restarts = 0;
    bool rehearse = true;
    std::filesystem::path trainer, agent; // as in RunRequest
    std::string waits_for; // of a taken one: the run, not of this queue, that still has its hosts
    std::string run; // its newest run; empty before there is one
    int begun = 0; // its runs so far, restarts included
    std::string outcome; // of an ended one: how its run ended (a RunState), or "not started"
    std::string problem; // why, in one line; empty where it ended well

    [[nodiscard]] std::string name() const; // of the plan
};

struct QueueContents {
    std::vector<QueuedRun> runs; // in the order in which they take their turns
    std::int64_t last_number = 0;
    bool paused = false; // nothing that waits is started

    [[nodiscard]] QueuedRun* find(std::int64_t number);
};

// What two runs cannot have at once: the hosts of a target, as the user names them. None of a Slurm target, whose own
// queue decides.
std::vector<std::string> hosts_of(const Target& target);
bool share_a_host(const Target& one, const Target& other);
// The first run that waits and for whose hosts no run before it waits and none is taken. Null: none, or paused.
const QueuedRun* next_turn(const QueueContents& contents);

class RunQueue {
public:
    explicit RunQueue(std::filesystem::path folder = default_folder());
    static std::filesystem::path default_folder();
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

    // Empty where nothing was ever queued. Fails where the file is damaged or of a newer release.
    [[nodiscard]] Expected<QueueContents> read() const;
    // Another one whenever read() may give something else: reading a long queue again and again would take a core.
    [[nodiscard]] std::string stamp() const;
    // Reads, lets `edit` change what is there and writes it back; nobody else changes it meanwhile.
    Expected<void> change(const std::function<Expected<void>(QueueContents&)>& edit) const;

    // Behind all others; its number. The request's history is the user's.
    [[nodiscard]] Expected<std::int64_t> add(const RunRequest& request) const;
    // One whose run goes on is refused: stopping it is another matter. One that is taken and has no run yet is given up
    // by the program that took it.
    [[nodiscard]] Expected<void> remove(std::int64_t number) const;
    // Of a waiting one: so that `place` (1: first) of those that wait is its own.
    [[nodiscard]] Expected<void> move(std::int64_t number, int place) const;
    [[nodiscard]] Expected<void> set_paused(bool paused) const;
    // Takes out what has ended; how many.
    [[nodiscard]] Expected<int> clear() const;

    // Whether a program gives turns; and whether one is due that nobody gives.
    [[nodiscard]] bool has_giver() const { return is_taken(kTurns); }
    [[nodiscard]] bool is_stalled(const QueueContents& contents) const { return next_turn(contents) && !has_giver(); }

    // A lock that its holder keeps as long as it lives: of the one program that gives turns (kTurns), and of the one
    // that sees to a run (its number). Not valid where another program has it.
    static constexpr const char* kTurns = "turns";
    [[nodiscard]] Expected<FileDescriptor> take(const std::string& what) const;
    [[nodiscard]] bool is_taken(const std::string& what) const;

private:
    std::filesystem::path folder_;
};

} // namespace fourfold
