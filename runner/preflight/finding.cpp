// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/finding.h"

#include "core/base/text.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

std::string Finding::line() const
{
    return (host.empty() ? "" : host + ": ") + check + ": " + message + (evidence.empty() ? "" : " (" + evidence + ")")
        + (cure.empty() ? "" : "; " + cure);
}

Json to_json(const Finding& finding)
{
    return {{"level", to_text(finding.level)}, {"host", finding.host}, {"check", finding.check},
        {"message", finding.message}, {"evidence", finding.evidence}, {"cure", finding.cure}};
}

std::vector<Finding> findings_from_agent(const Json& list, const std::string& host)
{
    std::vector<Finding> out;
    for (const Json& item : list) {
        const auto level = from_text<FindingLevel>(text_field(item, "level"), host);
        const auto text = [&](const char* key) { return printable(text_field(item, key), 500); };
        if (!text("check").empty())
            out.push_back({level ? *level : FindingLevel::info, host, text("check"), text("message"), text("evidence"),
                text("cure")});
    }
    return out;
}

Expected<void> check_findings(const std::vector<Finding>& findings)
{
    const auto bad = [](const Finding& finding) { return finding.level == FindingLevel::error; };
    const auto first = std::find_if(findings.begin(), findings.end(), bad);
    if (first == findings.end())
        return {};
    Problem problem{ProblemCode::failed, first->check + ": " + first->message, first->cure, first->host};
    if (!first->evidence.empty())
        problem.message += " (" + first->evidence + ")";
    if (const auto count = std::count_if(findings.begin(), findings.end(), bad); count > 1)
        problem.message += "; and " + std::to_string(count - 1) + " more, see `fourfold probe`";
    return problem;
}

} // namespace fourfold
