// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/predict/published_rows.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace fourfold::test {
namespace {

std::optional<double> number(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end == text.c_str())
        return std::nullopt;
    return value;
}

int whole(const std::map<std::string, std::string>& cells, const std::string& key, int fallback)
{
    const auto found = cells.find(key);
    if (found == cells.end())
        return fallback;
    return int(number(found->second).value_or(fallback));
}

Json model_of(const std::map<std::string, std::string>& cells)
{
    const std::string name = cells.at("model");
    for (const char* size : {"8B", "70B", "405B"}) {
        if (name == std::string("Llama-3.1-") + size) {
            std::string id = std::string("llama-3.1-") + size;
            for (char& c : id)
                c = char(std::tolower(c));
            return id;
        }
    }
    const int hidden = whole(cells, "hidden", 0), heads = whole(cells, "heads", 0);
    // The document states no depth for some runs of its 200B model, which has 80 layers elsewhere.
    const int layers = whole(cells, "layers", 80);
    if (whole(cells, "gated_mlp", 0) == 1)
        return {{"model_type", "llama"}, {"hidden_size", hidden}, {"num_hidden_layers", layers},
            {"num_attention_heads", heads}, {"num_key_value_heads", whole(cells, "kv_heads", heads)},
            {"intermediate_size", whole(cells, "ffn", 4 * hidden)}, {"vocab_size", whole(cells, "vocab", 32000)},
            {"max_position_embeddings", whole(cells, "seq_len", 4096)}, {"rms_norm_eps", 1e-5},
            {"tie_word_embeddings", cells.count("tied_embeddings") != 0}};
    if (name.starts_with("BLOOM"))
        return {{"model_type", "bloom"}, {"hidden_size", hidden}, {"n_layer", layers}, {"n_head", heads},
            {"vocab_size", whole(cells, "vocab", 250880)}};
    return {{"model_type", "gpt2"}, {"n_embd", hidden}, {"n_layer", layers}, {"n_head", heads},
        {"n_inner", whole(cells, "ffn", 4 * hidden)}, {"vocab_size", whole(cells, "vocab", 51200)},
        {"n_positions", whole(cells, "seq_len", 1024)}};
}

Json plan_of(const std::map<std::string, std::string>& cells, const Json& sources)
{
    const auto text = [&](const char* key) {
        const auto found = cells.find(key);
        return found == cells.end() ? std::string() : found->second;
    };
    const Json& source = sources["sources"][text("source")];
    Json plan{{"fourfold_plan", 1}, {"name", text("source") + " " + text("row")}};
    plan["model"] = model_of(cells);
    plan["cluster"] = source["clusters"][text("gpu")];
    plan["gpus"] = whole(cells, "gpus", 1);
    plan["stack"] = text("stack").empty() ? source["stack"] : Json(text("stack"));
    const int tp = whole(cells, "tp", 1), cp = whole(cells, "cp", 1), pp = whole(cells, "pp", 1);
    // One row prints a DP degree that does not multiply to its GPUs: the GPUs decide.
    const int dp = std::max(1, whole(cells, "gpus", 1) / (tp * cp * pp));
    plan["layout"]
        = {{"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp}, {"virtual_stages", whole(cells, "virtual_stages", 1)}};
    Json training = Json::object();
    for (const char* key : {"seq_len", "micro_batch", "global_batch"}) {
        if (const auto value = number(text(key)))
            training[key] = int(*value);
    }
    for (const char* key : {"schedule", "sharding", "recompute", "precision", "flop_convention"}) {
        if (!text(key).empty())
            training[key] = text(key);
    }
    for (const char* key : {"compile", "async_tp"}) {
        if (!text(key).empty())
            training[key] = text(key) == "1";
    }
    if (!text("sequence_parallel").empty())
        training["sequence_parallel"] = text("sequence_parallel") == "true";
    if (text("source") == "vtrain-micro57") { // GPT of 2022: scores in memory, fp16 gradients
        training["attention"] = "unfused";
        training["grad_dtype"] = "fp16";
    }
    plan["training"] = training;
    return plan;
}

} // namespace

std::vector<std::string> split_csv(const std::string& line)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"')
                fields.back() += line[++i];
            else
                quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    return fields;
}

std::vector<PublishedRow> read_published(const std::filesystem::path& csv, const Json& sources)
{
    std::ifstream file(csv);
    std::string line;
    std::vector<PublishedRow> rows;
    if (!std::getline(file, line))
        return rows;
    const std::vector<std::string> header = split_csv(line);
    while (std::getline(file, line)) {
        const std::vector<std::string> fields = split_csv(line);
        PublishedRow row;
        for (std::size_t i = 0; i < header.size() && i < fields.size(); ++i) {
            if (!fields[i].empty())
                row.cells[header[i]] = fields[i];
        }
        std::istringstream assumed(row.cells["assumed"]);
        for (std::string item; std::getline(assumed, item, ';');) {
            const auto equals = item.find('=');
            if (equals != std::string::npos)
                row.cells.emplace(item.substr(0, equals), item.substr(equals + 1)); // what is printed wins
        }
        row.source = row.cells["source"];
        row.table = row.cells["table"];
        row.row = row.cells["row"];
        row.status = row.cells["status"];
        row.metric = row.cells["metric"];
        row.anomaly = row.cells["anomaly"];
        row.notes = row.cells["notes"];
        row.value = number(row.cells["value"]);
        row.step_time_s = number(row.cells["step_time_s"]);
        row.memory_gib = number(row.cells["memory_gib"]);
        if (row.status != "invalid")
            row.plan = plan_of(row.cells, sources);
        rows.push_back(std::move(row));
    }
    return rows;
}

Expected<ResolvedPlan> resolve_row(const PublishedRow& row, const Presets& presets)
{
    FOURFOLD_TRY(const Plan plan, plan_from_json(row.plan, row.row));
    return resolve(plan, presets);
}

std::filesystem::path published_folder()
{
    return std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets" / "published";
}

} // namespace fourfold::test
