// SPDX-License-Identifier: GPL-3.0-or-later
// Stores a run's events on this computer, each exactly once: in the history (the cursor is in the same transaction)
// and, byte for byte as on a sound node, in the run folder. The history decides; the files are made to follow it. Of
// what comes beyond a limit nothing is stored: a node must not fill this computer's disk.
#pragma once

#include "core/history/run_state.h"
#include "core/history/store.h"
#include "runner/runs/event_sieve.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// Whether a program of this computer follows the run whose folder here it is.
bool is_followed(const std::filesystem::path& folder);

class Recorder {
public:
    // Takes the run folder for this process (`refused` when another program follows the run) and brings the event files
    // of all nodes, whose names `hosts` are, in line with the history.
    // Stores at most `most_gib` of events, of all streams together; 0 = all.
    static Expected<Recorder> open(HistoryStore store, const std::string& run, const std::filesystem::path& folder,
        const std::vector<std::string>& hosts, double most_gib);
    Recorder(Recorder&& other) noexcept;
    Recorder& operator=(Recorder&&) = delete;
    ~Recorder();

    // Where the tail of a node goes on: the next event, and the byte where it begins unless events were missing.
    [[nodiscard]] int64_t offset(int node) const { return streams_[static_cast<std::size_t>(node)].offset; }
    [[nodiscard]] int64_t next_seq(int node) const { return streams_[static_cast<std::size_t>(node)].sieve.next_seq(); }

    struct Taken {
        std::vector<Json> events; // in order
        std::vector<std::string> notes; // what of the lines was left out
    };
    // Stores the events of whole lines that begin at `offset` of the node's file, unless full().
    Expected<Taken> take(int node, int64_t offset, const std::string& lines);
    // The node could not send these bytes of its file.
    void skip(int node, int64_t offset, int64_t bytes);
    // The node says that its run has ended: stores an `end` where its own is missing.
    Expected<Taken> end(int node, const std::string& status, const std::string& why);
    // The limit is reached: what comes now stays on the nodes.
    [[nodiscard]] bool full() const { return full_; }
    // What is said about that; empty when it is not full.
    [[nodiscard]] std::string full_text() const;
    // With the run's end its files are brought in line with the history, whatever was done to them meanwhile.
    Expected<void> set_state(RunState state, const std::string& problem = {});
    Expected<void> write_file(const std::string& name, std::string_view content) const;

    [[nodiscard]] const HistoryStore& store() const { return store_; }
    [[nodiscard]] const std::string& run() const { return run_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    struct Stream {
        std::string name;
        int fd = -1;
        int64_t offset; // received, and stored unless it is full
        EventSieve sieve;
        int64_t written = 0; // into the file
    };
    Recorder(HistoryStore store, std::string run, std::filesystem::path folder);
    Expected<void> open_stream(int node, const std::string& host);
    // Writes a node's file as the history has it, unless it is so; returns its lines.
    Expected<std::vector<std::string>> write_as_stored(Stream& stream, int node) const;
    Expected<Taken> store(int node, EventSieve::Taken taken);

    HistoryStore store_;
    std::string run_;
    std::filesystem::path folder_;
    std::vector<Stream> streams_;
    double most_gib_ = 0;
    int64_t bytes_ = 0; // stored, of all streams
    bool full_ = false;
    int lock_ = -1;
};

// "events" and "events.jsonl" of the first node, "node1" and "events.node1.jsonl" of the second ...
std::string stream_name(int node);
std::string stream_file(int node);

} // namespace fourfold
