// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/attempt.h"

#include "core/base/input_file.h"
#include "core/history/event_types.h"

#include <charconv>
#include <fstream>

namespace fourfold {

namespace {
constexpr std::size_t kIdLength = 26; // of a ULID
constexpr char kMark = 'A';
} // namespace

std::string attempt_id(const Attempt& attempt)
{
    return attempt.number > 0 ? attempt.run + kMark + std::to_string(attempt.number) : attempt.run;
}

Attempt attempt_of(const std::string& id)
{
    int number = 0;
    if (id.size() <= kIdLength + 1 || id[kIdLength] != kMark)
        return {id, 0};
    const auto [end, error] = std::from_chars(id.data() + kIdLength + 1, id.data() + id.size(), number);
    if (error != std::errc{} || end != id.data() + id.size() || number < 1)
        return {id, 0};
    return {id.substr(0, kIdLength), number};
}

std::string newest_checkpoint(const std::filesystem::path& folder)
{
    constexpr std::size_t kMostLineBytes = 16u << 20;
    std::ifstream events(folder / "events.jsonl");
    std::string line, found;
    for (bool whole = true; read_line(events, line, kMostLineBytes, whole);) {
        if (!whole || line.find("\"checkpoint\"") == std::string::npos)
            continue;
        const auto event = parse_json(line, "events.jsonl");
        if (event && kind_of(*event) == EventKind::checkpoint)
            found = read_event<CheckpointEvent>(*event).path;
    }
    return found;
}

} // namespace fourfold
