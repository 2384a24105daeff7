// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/job_checks.h"

#include "runner/agent/checks/node_checks.h"
#include "runner/agent/node/facts.h"
#include "runner/agent/run/event_log.h"
#include "runner/protocol/message.h"
#include "runner/protocol/node_rules.h"

#include <map>
#include <optional>

namespace fourfold {

namespace {

std::filesystem::path findings_file(const std::filesystem::path& shared, int node)
{
    return shared / ("findings" + std::to_string(node) + ".json");
}

} // namespace

Expected<void> write_findings(
    const std::filesystem::path& shared, const RunSpec& spec, const std::filesystem::path& base)
{
    const bool on_gpus = spec.backend == "nccl";
    Json models = Json::array(), findings = node_checks(base, static_cast<int>(spec.ranks.size()), on_gpus);
    if (on_gpus) {
        const Json facts = node_facts(base);
        for (const Json& gpu : array_field(facts, "gpus"))
            models.push_back(text_field(gpu, "name"));
        if (const auto fault = driver_fault(text_field(facts, "driver")); fault && !spec.container)
            findings.push_back(finding("driver", "error", fault->message, fault->evidence, fault->cure));
    }
    return write_file_atomically(findings_file(shared, spec.node),
        to_wire({{"host", spec.host}, {"gpus", std::move(models)}, {"findings", std::move(findings)}}));
}

Expected<void> judge_findings(
    const std::filesystem::path& shared, const RunSpec& spec, const std::filesystem::path& events)
{
    FOURFOLD_TRY(EventLog log, EventLog::open(events));
    std::optional<Problem> first;
    std::map<std::string, std::string> models; // to one host that has it
    for (int node = 0; node < spec.nodes; ++node) {
        FOURFOLD_TRY(const Json written, read_json_file(findings_file(shared, node)));
        const std::string host = text_field(written, "host");
        for (const Json& model : array_field(written, "gpus")) {
            if (model.is_string())
                models.try_emplace(model.get<std::string>(), host);
        }
        for (const Json& finding : array_field(written, "findings")) {
            const std::string level = text_field(finding, "level");
            if (level != "error" && level != "warning")
                continue;
            const Problem problem = problem_of(finding, ProblemCode::failed, host);
            log.append(-1,
                WarningEvent{.kind = "preflight",
                    .host = host,
                    .message = problem.message + (problem.hint.empty() ? "" : "; " + problem.hint)});
            if (level == "error" && !first)
                first = problem;
        }
    }
    if (first)
        return *first;
    if (const auto fault = models_fault(models); fault && !spec.mixed_gpus)
        return Problem{ProblemCode::failed, fault->message + " (" + fault->evidence + ")",
            "ask for one model (slurm.constraint, slurm.gres), or set the target's mixed_gpus to true", {}};
    return {};
}

} // namespace fourfold
