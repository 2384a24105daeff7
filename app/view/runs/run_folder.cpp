// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_folder.h"

#include "core/base/input_file.h"
#include "core/base/json_member.h"
#include "core/history/run_event.h"
#include "core/history/run_state.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace fourfold::view {

namespace {
constexpr std::size_t kLargestStream = std::size_t{1} << 30;

Expected<Json> read_events(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const std::string text, read_text_file(file, kLargestStream));
    Json events = Json::array();
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        const std::string_view line(text.data() + begin, end - begin);
        begin = end + 1;
        if (line.empty())
            continue;
        FOURFOLD_TRY(Json event, parse_json(line, file.string() + ", event " + std::to_string(events.size())));
        events.push_back(std::move(event));
    }
    return events; // a last line without its end was cut while it was written
}

// The time of the first event, the state of the last.
void describe(const Json& events, Json& run)
{
    run["state"] = name(RunState::lost);
    run["created"] = "1970-01-01T00:00:00.000Z";
    if (!events.empty() && events.front().is_object())
        run["created"] = member_or(events.front(), "time", run["created"].get<std::string>());
    for (const Json& event : events) {
        const EventKind kind = kind_of(event);
        if (kind == EventKind::end)
            run["state"] = member_or(event, "status", std::string(name(RunState::lost)));
        if (kind == EventKind::start && event.contains("hosts") && event["hosts"].is_array()) {
            for (const Json& host : event["hosts"]) {
                if (host.is_string())
                    run["hosts"].push_back(host);
            }
        }
    }
}
} // namespace

Expected<Json> run_from_folder(const std::filesystem::path& folder)
{
    FOURFOLD_TRY(const Json document, read_json_file(folder / "plan.json"));
    FOURFOLD_TRY(const ResolvedPlan plan, read_resolved(document, (folder / "plan.json").string()));
    FOURFOLD_TRY(const Json prediction, read_json_file(folder / "prediction.json"));
    FOURFOLD_TRY(const Json events, read_events(folder / "events.jsonl"));
    const std::filesystem::path named = folder.filename().empty() ? folder.parent_path() : folder;
    Json run = {{"fourfold_run", 1}, {"id", named.filename().string()}, {"name", plan.name}, {"target", ""},
        {"stack", plan.stack.id}, {"problem", ""}, {"plan_hash", plan_hash(plan)}, {"layout_hash", layout_hash(plan)},
        {"plan", document}, {"prediction", prediction}, {"hosts", Json::array()}, {"environment", Json::object()},
        {"events", {{"events", events}}}};
    describe(events, run);
    return run;
}

std::vector<RankLog> rank_logs(const std::filesystem::path& folder)
{
    std::vector<RankLog> logs;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with("rank") || !name.ends_with(".log"))
            continue;
        int rank = 0;
        const char* last = name.data() + name.size() - 4;
        const auto [stop, bad] = std::from_chars(name.data() + 4, last, rank);
        if (bad == std::errc() && stop == last)
            logs.push_back({rank, at->path()});
    }
    std::sort(logs.begin(), logs.end(), [](const RankLog& a, const RankLog& b) { return a.rank < b.rank; });
    return logs;
}

std::string tail_of(const std::filesystem::path& file, std::size_t bytes)
{
    if (!open_regular(file))
        return {};
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    if (!stream)
        return {};
    const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, stream.tellg()));
    const std::size_t begin = size > bytes ? size - bytes : 0;
    std::string text(size - begin, '\0');
    stream.seekg(static_cast<std::streamoff>(begin));
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
    if (begin > 0) {
        const std::size_t line = text.find('\n');
        text.erase(0, line == std::string::npos ? 0 : line + 1);
    }
    return text;
}

} // namespace fourfold::view
