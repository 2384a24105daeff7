// SPDX-License-Identifier: GPL-3.0-or-later
// Files of the user that Fourfold reads but did not write: SSH configurations, and logs of other training software. The
// first byte says which.
#include "core/history/training_log.h"
#include "runner/ssh/ssh_config_notes.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void must(bool holds)
{
    if (!holds)
        std::abort();
}

void read_log(const std::string& text)
{
    using namespace fourfold;
    const auto log = parse_training_log(text, "fuzz");
    if (!log)
        return;
    must(!log->steps.empty());
    for (std::size_t i = 1; i < log->steps.size(); ++i)
        must(log->steps[i - 1].step < log->steps[i].step);
    const auto events = events_of_log(*log, 8, 1024, 4, "2026-01-01T00:00:00.000Z");
    must(events.size() == log->steps.size() + 1);
    for (std::size_t i = 0; i < events.size(); ++i) {
        must(events[i]["seq"].get<std::size_t>() == i);
        must(parse_json(events[i].dump(), "fuzz").has_value()); // no number that JSON does not know
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 1)
        return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 2 == 0) {
        read_log(text);
        return 0;
    }
    for (const std::string& note :
        fourfold::ssh_config_notes({"config", text}, "node1.example.org", [&](const std::string& words) {
            return std::vector<fourfold::SshConfigText>{{"more", words}};
        }))
        must(note.find('\n') == std::string::npos && note.size() < 4096);
    (void)fourfold::matches_host_patterns(text, "node1.example.org");
    return 0;
}
