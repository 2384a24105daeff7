// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/plan/fields.h"
#include "app/view/plan/edits.h"
#include "core/base/text.h"

#include <charconv>
#include <cmath>

namespace fourfold::tui {

namespace {
using Shape = ModelShape&;

struct PresetField {
    const char *path, *help;
    double (*of)(const ResolvedPlan& plan);
    void (*shape)(Shape shape, double value); // of the model; null: of the cluster
    void (*cluster)(Cluster& cluster, double value);
    bool is_whole;
};
constexpr PresetField kFields[]{
    {"model.layers", "Layers of the model", [](const ResolvedPlan& p) { return double(p.model.layers); },
        [](Shape shape, double value) { shape.layers = static_cast<int>(value); }, nullptr, true},
    {"model.hidden", "Hidden size of the model", [](const ResolvedPlan& p) { return double(p.model.hidden); },
        [](Shape shape, double value) { shape = view::with_hidden(shape, static_cast<int64_t>(value)); }, nullptr,
        true},
    {"model.heads", "Attention heads of the model", [](const ResolvedPlan& p) { return double(p.model.heads); },
        [](Shape shape, double value) { shape = view::with_heads(shape, static_cast<int>(value)); }, nullptr, true},
    {"model.kv_heads", "Key/value heads of the model", [](const ResolvedPlan& p) { return double(p.model.kv_heads); },
        [](Shape shape, double value) { shape.kv_heads = static_cast<int>(value); }, nullptr, true},
    {"cluster.gpus_per_node", "GPUs that share a node's links",
        [](const ResolvedPlan& p) { return double(p.cluster.gpus_per_node); }, nullptr,
        [](Cluster& cluster, double value) { cluster.gpus_per_node = static_cast<int>(value); }, true},
    {"cluster.intra_node.bandwidth_gb_s", "Bandwidth inside a node, GB/s per GPU and direction",
        [](const ResolvedPlan& p) { return p.cluster.intra_node.bandwidth_gb_s; }, nullptr,
        [](Cluster& cluster, double value) { cluster.intra_node.bandwidth_gb_s = value; }, false},
    {"cluster.inter_node.bandwidth_gb_s", "Bandwidth between nodes, GB/s per GPU and direction",
        [](const ResolvedPlan& p) { return p.cluster.inter_node.bandwidth_gb_s; }, nullptr,
        [](Cluster& cluster, double value) { cluster.inter_node.bandwidth_gb_s = value; }, false}};

void take(Desk& desk, const PresetField& field, double value)
{
    const ResolvedPlan& now = *desk.plan().state().last_resolved();
    const Plan& plan = desk.plan().state().plan();
    if (field.shape != nullptr) {
        ModelShape shape = now.model;
        field.shape(shape, value);
        desk.apply(std::string("Change ") + field.path, view::with_model(plan, view::as_own(std::move(shape))));
    } else {
        Cluster cluster = now.cluster;
        field.cluster(cluster, value);
        desk.apply(std::string("Change ") + field.path, view::with_cluster(plan, view::as_own(std::move(cluster))));
    }
}

void ask(Desk& desk, const PresetField& field)
{
    const double now = field.of(*desk.plan().state().last_resolved());
    auto prompt = std::make_unique<Prompt>(field.path, text_of("%.10g", now), [&desk, &field](const std::string& text) {
        std::string digits(trimmed(text));
        std::erase(digits, ',');
        double value = 0;
        const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        constexpr double kMost = 1e9;
        if (bad != std::errc() || end != digits.data() + digits.size() || !(value > 0) || value > kMost
            || (field.is_whole && value != std::floor(value)))
            return std::string(field.is_whole ? "expected a whole number above 0" : "expected a number above 0");
        take(desk, field, value);
        return std::string();
    });
    prompt->replaces().explain(
        std::string(field.help) + ". What the preset says stays as it is: the plan gets its own");
    desk.open(std::move(prompt));
}

void pick_gpu(Desk& desk)
{
    std::vector<Picker::Item> items;
    for (const std::string& id : desk.presets().ids("gpus")) {
        const Expected<Gpu> gpu = desk.presets().gpu(id);
        items.push_back({gpu ? gpu->name : id, id, [&desk, id] {
                             const Expected<Gpu> chosen = desk.presets().gpu(id);
                             if (!chosen) {
                                 desk.tell(chosen.error().line(), view::Tone::bad);
                                 return;
                             }
                             Cluster cluster = desk.plan().state().last_resolved()->cluster;
                             cluster.gpu = *chosen;
                             desk.apply("Change GPU",
                                 view::with_cluster(desk.plan().state().plan(), view::as_own(std::move(cluster))));
                         }});
    }
    desk.open(std::make_unique<Picker>("GPU of the cluster", std::move(items)));
}
} // namespace

std::vector<Picker::Item> preset_fields(Desk& desk)
{
    std::vector<Picker::Item> items;
    if (!desk.plan().state().last_resolved())
        return items;
    for (const PresetField& field : kFields)
        items.push_back({field.path, field.help, [&desk, &field] { ask(desk, field); }});
    items.push_back({"cluster.gpu", "GPU of the cluster", [&desk] { pick_gpu(desk); }});
    return items;
}

} // namespace fourfold::tui
