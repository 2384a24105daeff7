// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/step_trace.h"

#include "core/profile/packed_stream.h"
#include "core/schedule/chrome_trace.h"

#include <array>

namespace fourfold {

namespace {

constexpr std::size_t kHead = 1 << 16, kLargestOwn = std::size_t(1) << 28; // bytes of a trace that Fourfold wrote

std::string beginning(std::istream& in, std::size_t bytes)
{
    std::string text(bytes, '\0');
    in.read(text.data(), static_cast<std::streamsize>(bytes));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

// What chrome_trace() writes before its events and no profiler does.
bool is_own(std::string_view head)
{
    return head.find("\"step_time_s\"") != std::string_view::npos;
}

// Whether the first object of a text of which this is the beginning has the key, itself and not in what it holds.
bool first_object_has(std::string_view head, std::string_view key)
{
    int depth = 0;
    for (std::size_t at = 0; at < head.size(); ++at) {
        if (head[at] == '"') {
            const std::size_t begin = at + 1;
            for (++at; at < head.size() && head[at] != '"'; ++at)
                at += head[at] == '\\' ? 1 : 0;
            if (depth == 1 && at < head.size() && head.substr(begin, at - begin) == key) {
                const std::size_t behind = head.find_first_not_of(" \t\r\n", at + 1);
                if (behind != std::string_view::npos && head[behind] == ':')
                    return true;
            }
        } else if (head[at] == '{' || head[at] == '[') {
            ++depth;
        } else if (head[at] == '}' || head[at] == ']') {
            if (--depth <= 0)
                return false;
        }
    }
    return false;
}

} // namespace

Expected<StepTrace> read_step_trace(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const std::unique_ptr<PackedStream> in, PackedStream::open(file));
    StepTrace trace;
    trace.name = file.filename().string();
    std::string text = beginning(*in, kHead);
    if (!is_own(text)) {
        FOURFOLD_TRY(trace.profile, read_kineto(file));
        return trace;
    }
    in->clear();
    text += beginning(*in, kLargestOwn - text.size());
    FOURFOLD_TRY(const Json json, parse_json(text, file.string()));
    FOURFOLD_TRY(trace.stages, timeline_from_chrome_trace(json, file.string()));
    trace.steady = steady_part_of_chrome_trace(json);
    return trace;
}

bool looks_like_trace(const std::filesystem::path& file)
{
    const auto in = PackedStream::open(file);
    if (!in)
        return false;
    // Of a run's events, each an object of its own, one is a trace, and never the first.
    const std::string head = beginning(**in, kHead);
    return first_object_has(head, "traceEvents") && !first_object_has(head, "event");
}

Table parts_table(const std::vector<PartDifference>& parts)
{
    Table table;
    table.columns = {{"part", "PART"}, {"predicted_s", "PREDICTED ms", 1, 1e3}, {"measured_s", "MEASURED ms", 1, 1e3},
        {"difference_s", "DIFFERENCE ms", 1, 1e3}, {"kernels", "KERNELS"}};
    for (const PartDifference& part : parts)
        table.rows.push_back({part.part, cell(part.predicted_s), part.measured_s, cell(part.difference()),
            part.kernels > 0 ? Cell(part.kernels) : Cell()});
    return table;
}

Table collectives_table(const std::vector<CollectiveUse>& uses)
{
    Table table;
    table.columns = {{"collective", "COLLECTIVE"}, {"group", "GROUP"}, {"ranks", "RANKS"}, {"count", "COUNT"},
        {"bytes", "GB", 3, 1e-9}, {"busy_s", "BUSY ms", 2, 1e3}};
    for (const CollectiveUse& use : uses)
        table.rows.push_back({text_cell(use.collective), text_cell(use.group),
            use.ranks > 0 ? Cell(std::int64_t{use.ranks}) : Cell(), use.count, use.bytes, use.busy_s});
    return table;
}

Table kernels_table(const KernelTimeline& timeline)
{
    Table table;
    table.columns = {{"track", "TRACK"}, {"kernel", "KERNEL"}, {"kind", "KIND"}, {"layer", "LAYER"},
        {"micro_batch", "MICRO-BATCH"}, {"start_s", "START ms", 3, 1e3}, {"duration_s", "DURATION us", 1, 1e6},
        {"group", "GROUP"}, {"ranks", "RANKS"}, {"bytes", "MB", 3, 1e-6}, {"bytes_s", "GB/s", 1, 1e-9},
        {"flops_s", "TFLOP/s", 1, 1e-12}};
    const auto known = [](double value) { return value > 0 ? Cell(value) : Cell(); };
    const auto counted = [](int value) { return value >= 0 ? Cell(std::int64_t{value}) : Cell(); };
    for (const KernelTrack& track : timeline.tracks) {
        for (const KernelSpan& span : track.spans) {
            const KernelFacts& facts = timeline.facts[span.facts];
            const double seconds = span.end_s - span.start_s;
            table.rows.push_back({track.name, facts.name, std::string(name(facts.kind)), counted(span.layer),
                counted(span.micro_batch), span.start_s, seconds, text_cell(facts.group),
                facts.ranks > 0 ? Cell(std::int64_t{facts.ranks}) : Cell(), known(facts.bytes),
                seconds > 0 ? known(facts.bytes / seconds) : Cell(),
                seconds > 0 ? known(facts.flops / seconds) : Cell()});
        }
    }
    return table;
}

} // namespace fourfold
