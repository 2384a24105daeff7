// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/job_reach.h"

#include "runner/agent/checks/node_checks.h"
#include "runner/agent/node/network_probe.h"
#include "runner/protocol/message.h"
#include "runner/protocol/node_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

constexpr int kMostNeighbours = 16;
constexpr int kMostSilent = 3;

std::filesystem::path file_of(const std::filesystem::path& shared, const char* what, int node)
{
    return shared / (what + std::to_string(node) + ".json");
}

bool all_wrote(const std::filesystem::path& shared, const char* what, int nodes)
{
    std::error_code error;
    for (int node = 0; node < nodes; ++node) {
        if (!std::filesystem::exists(file_of(shared, what, node), error))
            return false;
    }
    return true;
}

} // namespace

JobReach::JobReach(std::filesystem::path shared, const RunSpec& spec, std::string token, ServerProcess server)
    : shared_(std::move(shared))
    , node_(spec.node)
    , nodes_(spec.nodes)
    , token_(std::move(token))
    , server_(std::move(server))
{
}

Expected<JobReach> JobReach::start(const std::filesystem::path& shared, const RunSpec& spec, const std::string& token)
{
    FOURFOLD_TRY(ServerProcess server, start_probe_server(spec.address, token));
    const int port = server.port();
    FOURFOLD_CHECK(write_file_atomically(file_of(shared, "reach", spec.node),
        to_wire({{"host", spec.host}, {"address", spec.address}, {"port", port}})));
    return JobReach(shared, spec, token, std::move(server));
}

Expected<bool> JobReach::look(double timeout_s)
{
    if (looked_)
        return true;
    if (!all_wrote(shared_, "reach", nodes_))
        return false;
    std::vector<int> others;
    for (int step = 1; step <= std::min(kMostNeighbours, nodes_ - 1); ++step)
        others.push_back((node_ + step) % nodes_);
    if (node_ != 0 && std::find(others.begin(), others.end(), 0) == others.end())
        others.push_back(0);
    FOURFOLD_TRY(const Json own, read_json_file(file_of(shared_, "reach", node_)));
    Json links = Json::array();
    int silent = 0;
    for (const int other : others) {
        FOURFOLD_TRY(const Json there, read_json_file(file_of(shared_, "reach", other)));
        const std::string address = text_field(there, "address");
        const Json link
            = probe_peer({address, static_cast<int>(integer_field(there, "port")), token_, timeout_s, false, true});
        links.push_back({{"from", text_field(own, "host")}, {"to", text_field(there, "host")}, {"address", address},
            {"state", text_field(link, "state", "failed")}, {"error", text_field(link, "error")}});
        silent += text_field(link, "state") == "timeout" ? 1 : 0;
        if (silent >= kMostSilent)
            break;
    }
    FOURFOLD_CHECK(write_file_atomically(file_of(shared_, "reached", node_), to_wire({{"links", std::move(links)}})));
    looked_ = true;
    return true;
}

Expected<bool> JobReach::judge() const
{
    if (!all_wrote(shared_, "reached", nodes_))
        return false;
    for (int node = 0; node < nodes_; ++node) {
        FOURFOLD_TRY(const Json written, read_json_file(file_of(shared_, "reached", node)));
        for (const Json& link : array_field(written, "links")) {
            const auto fault = link_fault(text_field(link, "state"), text_field(link, "error"), text_field(link, "to"),
                text_field(link, "address"));
            if (fault)
                return problem_of(finding("reach", "error", fault->message, fault->evidence, fault->cure),
                    ProblemCode::network, text_field(link, "from"));
        }
    }
    return true;
}

} // namespace fourfold
