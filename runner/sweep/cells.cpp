// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/cells.h"

#include "core/base/text.h"
#include "core/plan/presets.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace fourfold {

namespace {

Problem bad(const std::string& where, std::string message, std::string hint = {})
{
    return {ProblemCode::bad_input, std::move(message), std::move(hint), where};
}

std::vector<std::string> cells_of(const std::string& line)
{
    std::vector<std::string> out(1);
    for (const char c : line) {
        if (c == ',')
            out.emplace_back();
        else if (c != ' ' && c != '\t' && c != '\r' && c != '"')
            out.back() += c;
    }
    return out;
}

std::optional<int> positive(const std::string& text)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

} // namespace

std::string SweepLayout::name() const
{
    return "tp " + std::to_string(tp) + ", cp " + std::to_string(cp) + ", pp " + std::to_string(pp) + ", micro-batch "
        + std::to_string(micro_batch)
        + (virtual_stages > 1 ? ", " + std::to_string(virtual_stages) + " virtual stages" : "");
}

std::string SweepCell::key() const
{
    return "tp" + std::to_string(layout.tp) + "-cp" + std::to_string(layout.cp) + "-pp" + std::to_string(layout.pp)
        + "-mb" + std::to_string(layout.micro_batch) + "-v" + std::to_string(layout.virtual_stages) + "-gpus"
        + std::to_string(gpus);
}

Expected<std::vector<SweepLayout>> read_layouts(const std::string& text, const std::string& where)
{
    static const std::vector<std::string> kKeys{"tp", "cp", "pp", "micro_batch", "virtual_stages"};
    std::vector<SweepLayout> out;
    std::vector<std::string> head;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const std::string at = where + ":" + std::to_string(number);
        const auto cells = cells_of(line);
        if ((cells.size() == 1 && cells[0].empty()) || cells[0].starts_with('#'))
            continue;
        if (head.empty()) {
            head = cells;
            for (const std::string& key : head) {
                if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
                    return bad(at, "the column " + in_quotes(key) + " is not known", "expected " + joined(kKeys, ","));
            }
            for (std::size_t i = 0; i < 4; ++i) {
                if (std::count(head.begin(), head.end(), kKeys[i]) != 1)
                    return bad(
                        at, "the column " + kKeys[i] + " is missing or there twice", "expected " + joined(kKeys, ","));
            }
            continue;
        }
        if (cells.size() != head.size())
            return bad(at, std::to_string(cells.size()) + " cells, the head line has " + std::to_string(head.size()));
        SweepLayout layout;
        const std::map<std::string, int*> places{{"tp", &layout.tp}, {"cp", &layout.cp}, {"pp", &layout.pp},
            {"micro_batch", &layout.micro_batch}, {"virtual_stages", &layout.virtual_stages}};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (head[i] == "virtual_stages" && cells[i].empty())
                continue;
            const auto value = positive(cells[i]);
            if (!value)
                return bad(at, head[i] + " is " + in_quotes(cells[i]), "expected a whole number from 1 on");
            *places.at(head[i]) = *value;
        }
        out.push_back(layout);
    }
    if (out.empty())
        return bad(where, "no layout in this file", "a head line tp,cp,pp,micro_batch and one line a layout");
    return out;
}

Expected<std::vector<int>> read_gpu_counts(const std::string& text)
{
    std::vector<int> out;
    for (const std::string& cell : cells_of(text)) {
        const auto value = positive(cell);
        if (!value)
            return bad("--gpus", in_quotes(text) + " is not a list of GPU counts", "as in 4,8,16");
        out.push_back(*value);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

Expected<ResolvedPlan> plan_of_cell(const Plan& plan, const SweepCell& cell)
{
    const SweepLayout& layout = cell.layout;
    const int ranks = layout.tp * layout.cp * layout.pp;
    if (cell.gpus % ranks != 0)
        return bad(
            cell.key(), "tp x cp x pp = " + std::to_string(ranks) + " does not divide " + std::to_string(cell.gpus));
    Plan changed = plan;
    for (const auto& [field, value] : {std::pair("gpus", cell.gpus), std::pair("layout.tp", layout.tp),
             std::pair("layout.cp", layout.cp), std::pair("layout.pp", layout.pp),
             std::pair("layout.dp", cell.gpus / ranks), std::pair("layout.virtual_stages", layout.virtual_stages),
             std::pair("training.micro_batch", layout.micro_batch)}) {
        FOURFOLD_TRY(changed, with_assignment(changed, std::string(field) + "=" + std::to_string(value)));
    }
    FOURFOLD_TRY(ResolvedPlan resolved, resolve(changed, Presets()));
    if (const auto reasons = check(resolved); !reasons.empty())
        return bad(cell.key(), reasons.front().field + ": " + reasons.front().message);
    return resolved;
}

Target target_of_cell(const Target& target, int gpus)
{
    Target out = target;
    int given = 0;
    std::size_t used = 0;
    for (const TargetHost& host : target.hosts) {
        if (host.ranks == 0)
            return out;
        if (given < gpus)
            ++used;
        given += host.ranks;
    }
    if (target.kind != TargetKind::ssh || used == 0)
        return out;
    out.hosts.resize(used);
    int before = 0;
    for (std::size_t i = 0; i + 1 < used; ++i)
        before += out.hosts[i].ranks;
    if (gpus - before > 0)
        out.hosts.back().ranks = std::min(out.hosts.back().ranks, gpus - before);
    return out;
}

} // namespace fourfold
