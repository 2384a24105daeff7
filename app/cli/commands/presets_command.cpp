// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold presets`: what a plan may name.
#include "app/cli/command.h"
#include "app/cli/planning/hidden_presets.h"
#include "app/cli/planning/preset_kinds.h"
#include "core/base/text.h"
#include "core/plan/presets.h"
#include "runner/target/target.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct PresetsOptions {
    std::string kind;
    FormatOptions format;
};

std::string text_at(const Json& json, const char* key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Columns of a kind after "id", and one row for an id. A preset that cannot be read is a warning, not the end.
struct Kind {
    std::vector<Column> columns;
    std::function<Expected<std::vector<Cell>>(const std::string&)> row;
};

Expected<std::vector<Cell>> plan_row(const Presets& presets, const std::string& id)
{
    FOURFOLD_TRY(const auto file, presets.file("plans", id));
    FOURFOLD_TRY(const Json plan, read_json_file(file));
    if (!plan.is_object())
        return Problem{ProblemCode::bad_input, "expected an object", "", file.string()};
    const auto gpus = plan.find("gpus");
    return std::vector<Cell>{text_at(plan, "name"), text_at(plan, "model"), text_at(plan, "cluster"),
        gpus != plan.end() && gpus->is_number_integer() ? Cell(gpus->get<std::int64_t>()) : Cell()};
}

Expected<std::vector<Cell>> target_row(const std::string& id)
{
    FOURFOLD_TRY(const Target target, load_target(id));
    std::vector<std::string> hosts;
    for (const TargetHost& host : target.hosts)
        hosts.push_back(host.address);
    if (target.slurm)
        hosts.push_back(target.slurm->login ? target.slurm->login->address : "this computer");
    return std::vector<Cell>{std::string(name(target.kind)), joined(hosts, ", ")};
}

Kind columns_of(const std::string& name, const Presets& presets)
{
    if (name == "models")
        return {{{"name", "name"}, {"parameters", "parameters", 2, 1e-9, " B"}, {"layers", "layers"},
                    {"hidden", "hidden"}, {"heads", "heads"}, {"kv_heads", "KV heads"}, {"vocab", "vocabulary"}},
            [&presets](const std::string& id) -> Expected<std::vector<Cell>> {
                FOURFOLD_TRY(const ModelShape model, presets.model(id));
                return std::vector<Cell>{model.name, model.parameters(), std::int64_t{model.layers}, model.hidden,
                    std::int64_t{model.heads}, std::int64_t{model.kv_heads}, model.vocab};
            }};
    if (name == "gpus")
        return {{{"name", "name"}, {"memory_gib", "GiB", 1}, {"memory_bandwidth_gb_s", "memory GB/s"},
                    {"bf16_tflops", "bf16 TFLOP/s", 1}, {"fp8_tflops", "fp8 TFLOP/s", 1}},
            [&presets](const std::string& id) -> Expected<std::vector<Cell>> {
                FOURFOLD_TRY(const Gpu gpu, presets.gpu(id));
                return std::vector<Cell>{
                    gpu.name, gpu.memory_gib, gpu.memory_bandwidth_gb_s, cell(gpu.bf16_tflops), cell(gpu.fp8_tflops)};
            }};
    if (name == "clusters")
        return {{{"name", "name"}, {"gpu", "GPU"}, {"gpus_per_node", "GPUs/node"},
                    {"intra_node_gb_s", "intra-node GB/s", 1}, {"inter_node_gb_s", "inter-node GB/s", 1}},
            [&presets](const std::string& id) -> Expected<std::vector<Cell>> {
                FOURFOLD_TRY(const Cluster cluster, presets.cluster(id));
                return std::vector<Cell>{cluster.name, cluster.gpu.id, std::int64_t{cluster.gpus_per_node},
                    cluster.intra_node.bandwidth_gb_s, cluster.inter_node.bandwidth_gb_s};
            }};
    if (name == "stacks")
        return {{{"name", "name"}, {"releases", "releases"}},
            [&presets](const std::string& id) -> Expected<std::vector<Cell>> {
                FOURFOLD_TRY(const Stack stack, presets.stack(id));
                std::vector<std::string> releases;
                for (const Release& release : stack.releases)
                    releases.push_back(release.name);
                return std::vector<Cell>{stack.name, joined(releases, ", ")};
            }};
    if (name == "plans")
        return {{{"name", "name"}, {"model", "model"}, {"cluster", "cluster"}, {"gpus", "GPUs"}},
            [&presets](const std::string& id) { return plan_row(presets, id); }};
    return {{{"kind", "kind"}, {"hosts", "hosts"}}, [](const std::string& id) { return target_row(id); }};
}

Table table_of(const std::string& name, const Presets& presets)
{
    const Kind kind = columns_of(name, presets);
    Table table;
    table.columns = {{"id", "id"}};
    table.columns.insert(table.columns.end(), kind.columns.begin(), kind.columns.end());
    for (const std::string& id : presets.ids(name)) {
        auto row = kind.row(id);
        if (!row) {
            warn(row.error().line());
            continue;
        }
        row->insert(row->begin(), id);
        table.rows.push_back(*std::move(row));
    }
    return table;
}

// Without a kind: every id.
Table overview(const Presets& presets)
{
    Table table;
    table.columns = {{"kind", "kind"}, {"id", "id"}};
    for (const std::string& kind : preset_kinds())
        for (const std::string& id : presets.ids(kind))
            table.rows.push_back({kind, id});
    return table;
}

Expected<int> run_presets(const PresetsOptions& options)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    if (!options.kind.empty() && std::ranges::find(preset_kinds(), options.kind) == preset_kinds().end()) {
        const auto near = nearest_words(options.kind, preset_kinds(), 1);
        return fail({ProblemCode::bad_input, "there is no kind of preset " + in_quotes(options.kind),
            near.empty() ? "use " + joined(preset_kinds(), ", ") : "did you mean " + near[0] + "?", "arguments"});
    }
    const Presets presets;
    const Table table = options.kind.empty() ? overview(presets) : table_of(options.kind, presets);
    std::cout << table.write(format);
    const auto asked = options.kind.empty() ? preset_kinds() : std::vector<std::string>{options.kind};
    if (const auto note = hidden_presets_note(presets_of(asked)))
        warn(*note);
    return kDone;
}

} // namespace

void add_presets(Cli& cli)
{
    auto* command
        = cli.app.add_subcommand("presets", "Models, GPUs, clusters, stacks, plans and targets that are known");
    const auto options = std::make_shared<PresetsOptions>();
    command->add_option("KIND", options->kind, "models, gpus, clusters, stacks, plans or targets; all when left out");
    options->format.add_to(*command);
    command->callback([&cli, options] { cli.chosen = [options] { return run_presets(*options); }; });
}

} // namespace fourfold::cli
