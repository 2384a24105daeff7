// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/kernel_list.h"

#include <algorithm>
#include <tuple>

namespace fourfold {

namespace {

// Streams of a rank: those that compute first, then those of collectives, then copies.
int order_of(KernelKind kind)
{
    return kind == KernelKind::copy ? 2 : kind == KernelKind::communication ? 1 : 0;
}

struct Stream {
    int number = 0;
    std::array<double, 3> busy{}; // by order_of()
    std::string group; // of its collectives, where that is one
    bool has_groups = false; // several
    std::vector<KernelSpan> spans;
    [[nodiscard]] int order() const { return int(std::max_element(busy.begin(), busy.end()) - busy.begin()); }
    [[nodiscard]] std::string words() const
    {
        constexpr std::array kWhat{"compute", "communication", "copies"};
        const auto what = static_cast<std::size_t>(order());
        return order() == 1 && !has_groups && !group.empty() ? group : kWhat[what];
    }
};

} // namespace

bool KernelFacts::operator<(const KernelFacts& other) const
{
    return std::tie(name, kind, collective, group, ranks, bytes, flops)
        < std::tie(other.name, other.kind, other.collective, other.group, other.ranks, other.bytes, other.flops);
}

KernelTimeline measured_kernels(const std::vector<RankStep>& ranks)
{
    std::vector<const RankStep*> ordered;
    for (const RankStep& rank : ranks)
        ordered.push_back(&rank);
    std::ranges::stable_sort(ordered, {}, [](const RankStep* rank) { return rank->rank; });
    KernelTimeline timeline;
    KernelList list;
    for (const RankStep* rank : ordered) {
        timeline.length_s = std::max(timeline.length_s, rank->step.length_s);
        std::map<int, Stream> streams;
        for (const Kernel& kernel : rank->step.kernels) {
            Stream& stream = streams[kernel.stream];
            stream.number = kernel.stream;
            stream.busy[static_cast<std::size_t>(order_of(kernel.kind))] += kernel.end_s - kernel.start_s;
            if (!kernel.group.empty()) {
                stream.has_groups = stream.has_groups || (!stream.group.empty() && stream.group != kernel.group);
                stream.group = kernel.group;
            }
            stream.spans.push_back({kernel.start_s, kernel.end_s,
                list.index_of({kernel.name, kernel.kind, kernel.collective, kernel.group, kernel.ranks, kernel.bytes,
                    kernel.flops}),
                kernel.layer, -1});
        }
        std::vector<Stream*> rows;
        for (auto& [number, stream] : streams)
            rows.push_back(&stream);
        std::ranges::stable_sort(rows, {}, &Stream::order);
        for (Stream* stream : rows) {
            const std::string whose = rank->rank >= 0 ? "rank " + std::to_string(rank->rank) + ", " : std::string();
            timeline.tracks.push_back({whose + "stream " + std::to_string(stream->number) + ", " + stream->words(), {},
                std::move(stream->spans)});
        }
    }
    timeline.facts = list.take();
    return timeline;
}

} // namespace fourfold
