// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/domain.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {

namespace {
struct SpanKey {
    const char* key;
    MeasuredSpan MeasuredDomain::*span;
};
constexpr std::array kSpans{SpanKey{"intra_node_gb_s", &MeasuredDomain::intra_node_gb_s},
    SpanKey{"inter_node_gb_s", &MeasuredDomain::inter_node_gb_s},
    SpanKey{"parameters_b", &MeasuredDomain::parameters_b}, SpanKey{"seq_len", &MeasuredDomain::seq_len}};

Expected<MeasuredDomain> read_domain(const Fields& fields)
{
    MeasuredDomain domain;
    FOURFOLD_TRY(domain.runs, fields.small_integer_or("runs", 0, 0));
    FOURFOLD_TRY(domain.gpus, fields.small_integer_or("gpus", 0, 0));
    FOURFOLD_TRY(domain.pipeline_gpus, fields.small_integer_or("pipeline_gpus", 0, 0));
    for (const auto& [key, span] : kSpans) {
        if (!fields.has(key))
            continue;
        const Json& pair = fields.json()[key];
        const bool two = pair.is_array() && pair.size() == 2 && pair[0].is_number() && pair[1].is_number();
        if (!two || !(pair[0].get<double>() > 0) || pair[1] < pair[0])
            return fields.wrong(key, "two numbers above 0, the least first");
        domain.*span = {pair[0], pair[1]};
    }
    FOURFOLD_TRY(domain.generation, fields.text_or("generation", ""));
    for (const Json& cluster : fields.has("clusters") ? fields.json()["clusters"] : Json::array()) {
        if (!cluster.is_string())
            return fields.wrong("clusters", "a list of ids of cluster presets");
        domain.clusters.insert(cluster.get<std::string>());
    }
    for (const Json& kernel : fields.has("kernels") ? fields.json()["kernels"] : Json::array()) {
        FOURFOLD_TRY(const AttentionKernel read,
            from_text<AttentionKernel>(
                kernel.is_string() ? kernel.get<std::string>() : kernel.dump(), fields.where("kernels")));
        domain.kernels.insert(read);
    }
    if (!fields.has("regimes"))
        return domain;
    const Json& list = fields.json()["regimes"];
    const Problem problem = fields.wrong("regimes", "a list of " + joined(spellings<Regime>(), ", "));
    if (!list.is_array())
        return problem;
    for (const Json& item : list) {
        const auto regime = from_text<Regime>(item.is_string() ? item.get<std::string>() : "", "");
        if (!regime)
            return problem;
        domain.regimes.insert(*regime);
    }
    return domain;
}
} // namespace

void MeasuredSpan::take(double value)
{
    low = high > 0 ? std::min(low, value) : value;
    high = std::max(high, value);
}

double MeasuredSpan::beyond(double value) const
{
    if (!(high > 0) || !(value > 0))
        return 0;
    return std::max({0.0, std::log(low / value), std::log(value / high)});
}

bool MeasuredSpan::is_far(double value, double factor) const
{
    return high > 0 && value > 0 && (value * factor < low || value > high * factor);
}

Expected<MeasuredDomains> domains_from_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields by_gpu, Fields::of(json, where));
    MeasuredDomains domains;
    for (const auto& [gpu, value] : by_gpu.json().items()) {
        FOURFOLD_TRY(const Fields fields, by_gpu.object(gpu));
        FOURFOLD_TRY(domains[gpu], read_domain(fields));
    }
    return domains;
}

Json to_json(const MeasuredDomains& domains)
{
    Json json = Json::object();
    for (const auto& [gpu, domain] : domains) {
        json[gpu] = {{"runs", domain.runs}, {"gpus", domain.gpus}, {"pipeline_gpus", domain.pipeline_gpus},
            {"regimes", Json::array()}};
        for (const auto& [key, span] : kSpans) {
            if ((domain.*span).high > 0)
                json[gpu][key] = {(domain.*span).low, (domain.*span).high};
        }
        if (!domain.generation.empty())
            json[gpu]["generation"] = domain.generation;
        for (const std::string& cluster : domain.clusters)
            json[gpu]["clusters"].push_back(cluster);
        for (const AttentionKernel kernel : domain.kernels)
            json[gpu]["kernels"].push_back(to_text(kernel));
        for (const Regime regime : domain.regimes)
            json[gpu]["regimes"].push_back(to_text(regime));
    }
    return json;
}

} // namespace fourfold
