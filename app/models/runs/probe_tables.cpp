// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/probe_tables.h"

#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
std::string title(const char* text)
{
    return tr(text).toStdString();
}

Cell known(double value)
{
    return value > 0 ? Cell(value) : Cell();
}
} // namespace

Table nodesTable(const ProbeReport& report)
{
    Table table;
    table.columns = {{"node", title("Node")}, {"system", title("System")}, {"glibc", title("glibc")},
        {"cores", title("Cores")}, {"memory_gib", title("Memory GiB"), 1}, {"disk_free_gib", title("Free disk GiB"), 1},
        {"gpus", title("GPUs")}, {"driver", title("Driver")}};
    const bool speeds = std::any_of(
        report.hosts.begin(), report.hosts.end(), [](const ProbeReport::Host& host) { return host.speed.is_object(); });
    if (speeds) {
        table.columns.push_back({"memory_bandwidth_gb_s", title("Memory GB/s"), 1});
        table.columns.push_back({"gemm_tflops_fp32", title("FP32 TFLOP/s"), 3});
    }
    for (const ProbeReport::Host& host : report.hosts) {
        const NodeFacts& facts = host.facts;
        const std::string gpus
            = facts.gpus.empty() ? std::string() : std::to_string(facts.gpus.size()) + " x " + facts.gpus.front().name;
        table.rows.push_back({host.name, facts.os, facts.glibc, std::int64_t(facts.cores), known(facts.memory_gib),
            known(facts.disk_free_gib), gpus, facts.driver});
        if (!speeds)
            continue;
        for (const char* figure : {"memory_bandwidth_gb_s", "gemm_tflops_fp32"})
            table.rows.back().push_back(known(host.speed.is_object() ? host.speed.value(figure, 0.0) : 0));
    }
    return table;
}

Table linksTable(const ProbeReport& report)
{
    Table table;
    table.columns = {{"from", title("From")}, {"to", title("To")}, {"state", title("State")},
        {"latency_us", title("Latency \u00b5s")}, {"bandwidth_gb_s", title("GB/s"), 2}, {"mtu", title("MTU")},
        {"interface", title("Through")}};
    const auto nameOf = [&](int index) {
        return index >= 0 && index < static_cast<int>(report.hosts.size())
            ? report.hosts[static_cast<std::size_t>(index)].name
            : std::string();
    };
    for (const Link& link : report.network.links) {
        table.rows.push_back({nameOf(link.from), nameOf(link.to),
            link.error.empty() ? link.state : link.state + ": " + link.error, known(link.latency_us),
            known(link.bandwidth_gb_s), link.mtu > 0 ? Cell(std::int64_t(link.mtu)) : Cell(), link.interface});
    }
    return table;
}

Table findingsTable(const ProbeReport& report)
{
    Table table;
    table.columns = {{"level", title("Level")}, {"host", title("Node")}, {"check", title("Check")},
        {"message", title("Finding")}, {"cure", title("What to do")}, {"evidence", title("Evidence")}};
    for (const Finding& finding : report.findings)
        table.rows.push_back({std::string(name(finding.level)), finding.host, finding.check, finding.message,
            finding.cure, finding.evidence});
    return table;
}

QString probeVerdict(const ProbeReport& report)
{
    const auto count = [&](FindingLevel level) {
        return double(std::count_if(report.findings.begin(), report.findings.end(),
            [level](const Finding& finding) { return finding.level == level; }));
    };
    const QString nodes = counted(double(report.hosts.size()), tr("node"));
    const QString warnings = counted(count(FindingLevel::warning), tr("warning"));
    return report.good()
        ? tr("%1, ready for a run; %2").arg(nodes, warnings)
        : tr("%1, not ready for a run: %2, %3").arg(nodes, counted(count(FindingLevel::error), tr("error")), warnings);
}

} // namespace fourfold::ui
