// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever a rank writes into its event file: the node's log stays a sequence of whole JSON lines, numbered without a
// gap, in which only the agent speaks for itself.
#include "runner/agent/run/event_log.h"
#include "runner/agent/run/event_merge.h"
#include "runner/protocol/message.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::filesystem::path own_folder()
{
    std::string pattern = (std::filesystem::temp_directory_path() / "events-fuzz.XXXXXX").string();
    static const std::filesystem::path kFolder = mkdtemp(pattern.data());
    static const int kRemoved = std::atexit([] {
        std::error_code error;
        std::filesystem::remove_all(kFolder, error);
    });
    (void)kRemoved;
    return kFolder;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    static const std::filesystem::path kFolder = own_folder();
    const auto events = kFolder / "events.jsonl", rank = kFolder / "rank0.jsonl";
    std::error_code ignored;
    std::filesystem::remove(events, ignored);
    std::ofstream(rank, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    RunSpec spec;
    spec.run = "RUN";
    spec.host = "host";
    spec.ranks = {RankPlace{0, 0, {{"tp", 0}}}};
    int64_t count = 0;
    // Twice: an agent that comes after another one takes nothing over again.
    for (int turn = 0; turn < 2; ++turn) {
        auto log = EventLog::open(events);
        if (!log)
            std::abort();
        EventMerge merge(spec, kFolder, *log);
        while (merge.poll(4096)) { }
        if (turn == 0)
            log->append(0, EndEvent{.status = "ok"});
        count = log->next_seq();
    }
    std::ifstream in(events, std::ios::binary);
    int64_t seq = 0, ends = 0;
    for (std::string line; std::getline(in, line); ++seq) {
        const auto event = parse_json(line, "fuzz");
        if (!event || integer_field(*event, "seq", -1) != seq || line.size() > kMaxEventLine)
            std::abort();
        ends += text_field(*event, "event") == "end" ? 1 : 0;
    }
    if (seq != count || ends != 1)
        std::abort();
    return 0;
}
