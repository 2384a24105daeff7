// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's part of the event stream: one JSON object a line in RUN_FOLDER/rank<r>.jsonl.
#pragma once

#include "core/base/json.h"
#include "core/history/event_types.h"

#include <filesystem>
#include <memory>
#include <string>

namespace fourfold::trainer {

class EventWriter {
public:
    // Opens (creates) the file for appending. Errors name the file.
    static Expected<std::shared_ptr<EventWriter>> open(const std::filesystem::path& run_folder, int rank);
    ~EventWriter();
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;

    // Appends {"time", "rank", "event", ...fields} as one line with one write(), so that a reader never sees parts of
    // two events mixed. Returns what kept the line from being written (no space left ...).
    Expected<void> write(const std::string& event, const Json& fields);
    template <typename Event>
    Expected<void> write(const Event& event)
    {
        return write(std::string(name(Event::kKind)), event_json(event));
    }

private:
    EventWriter(int descriptor, int rank, std::string file);

    int descriptor_;
    int rank_;
    std::string file_;
};

// Now as "2026-01-01T00:00:00.000Z".
std::string utc_now();

} // namespace fourfold::trainer
