// SPDX-License-Identifier: GPL-3.0-or-later
// Hugging Face config.json to ModelShape and back. Keys that say nothing about the shape (dtype, token ids, dropout,
// architectures ...) are ignored.
#include "core/base/text.h"
#include "core/model/import/import.h"
#include "core/model/import_report.h"

#include <algorithm>
#include <array>
#include <set>

namespace fourfold {

namespace {
std::vector<std::string> known_types()
{
    std::vector<std::string> list;
    for (const Family& family : families())
        if (family.model_type != "decoder")
            list.emplace_back(family.model_type);
    for (const auto& table : {import::dense_importers(), import::mixture_importers(), import::latent_importers(),
             import::hybrid_importers()})
        for (const import::Importer& importer : table)
            if (find_family(importer.family) == nullptr)
                list.emplace_back(importer.family);
    return list;
}

Problem unknown_type(const std::string& type, const Fields& config)
{
    const std::vector<std::string> known = known_types(), near = nearest_words(type, known, 3);
    // All of them would be a screenful.
    const std::string hint = near.empty()
        ? text_of("%zu families of decoders are known, as llama, qwen3 or deepseek_v3", known.size())
        : "did you mean " + joined(near, " or ") + "?";
    return {ProblemCode::unsupported, "unknown model family " + in_quotes(type), hint, config.where("model_type")};
}

// Other names of the same keys: of language models within others, and of families that others' code runs.
struct Alias {
    std::string_view type, family;
};
constexpr std::array kAliases{Alias{"kimi_k2", "deepseek_v3"}, Alias{"kimi_k25", "deepseek_v3"},
    Alias{"qwen3_vl_text", "qwen3"}, Alias{"qwen3_vl", "qwen3"}, Alias{"qwen3_vl_moe_text", "qwen3_moe"},
    Alias{"qwen3_vl_moe", "qwen3_moe"}, Alias{"qwen2_vl_text", "qwen2"}, Alias{"qwen2_5_vl_text", "qwen2"},
    Alias{"qwen3_5", "qwen3_5_text"}, Alias{"qwen3_5_moe", "qwen3_5_moe_text"}, Alias{"gemma3", "gemma3_text"},
    Alias{"gemma4", "gemma4_text"}, Alias{"llama4", "llama4_text"}, Alias{"mistral3", "ministral3"}};

std::string_view family_of(std::string_view type)
{
    const auto* const found = std::ranges::find(kAliases, type, &Alias::type);
    return found == kAliases.end() ? type : found->family;
}

// The language model of a file that also has images or sound, else the file itself.
Expected<Fields> language_model(const Fields& config)
{
    for (const char* const key : {"text_config", "llm_config", "language_config"})
        if (config.has(key) && config.json()[key].is_object() && !config.has("hidden_size"))
            return config.object(key);
    return config;
}

Expected<void> check_heads(const Fields& fields, const ModelShape& model)
{
    const std::string of_heads = fields.has("head_dim") ? "head_dim" : "num_attention_heads";
    if (model.head_dim > config_keys::kMostHeadDim) // derived: given, it was read with this limit
        return fields.problem(of_heads,
            "a head may be " + std::to_string(config_keys::kMostHeadDim) + " wide at most, these are "
                + std::to_string(model.head_dim));
    if (model.positions == Positions::rope && model.head_dim % 2 != 0)
        return fields.problem(
            of_heads, "rotary positions need an even head width, this one is " + std::to_string(model.head_dim));
    return {};
}

Expected<ModelShape> with_family(const Fields& fields, ModelShape model, const Family& family)
{
    model.model_type = std::string(family.model_type);
    FOURFOLD_CHECK(family.read(fields, model));
    FOURFOLD_CHECK(check_heads(fields, model));
    return model;
}

Expected<ModelShape> described(const Fields& fields, ModelShape model, const import::Importer& importer)
{
    model.model_type = "decoder";
    Decoder decoder;
    decoder.family = std::string(importer.family);
    import::Import in{fields, model, decoder};
    FOURFOLD_CHECK(importer.read(in));
    FOURFOLD_TRY(model.predicted_ahead, config_keys::read_modules_ahead(fields));
    model.decoder = std::move(decoder);
    FOURFOLD_CHECK(config_keys::check_decoder(fields, model));
    FOURFOLD_CHECK(check_heads(fields, model));
    return model;
}

Expected<ModelShape> read_model(const Fields& config)
{
    FOURFOLD_TRY(const Fields fields, language_model(config));
    if (!fields.has("model_type") && !config.has("model_type"))
        return config.missing("model_type", "the name of a family of decoders, as llama, qwen3 or deepseek_v3");
    FOURFOLD_TRY(const std::string type, (fields.has("model_type") ? fields : config).text("model_type"));
    const std::string_view family_name = family_of(type);
    const Family* family = find_family(family_name);
    const import::Importer* importer = import::find_importer(family_name);
    if (family == nullptr && importer == nullptr)
        return unknown_type(type, config);
    ModelShape model;
    FOURFOLD_TRY(model.id, config.text_or("id", ""));
    FOURFOLD_TRY(model.name, config.name_or("name", ""));
    const bool usually = family != nullptr ? family->tied_by_default : importer->tied;
    const Fields& of_tie = fields.has("tie_word_embeddings") ? fields : config;
    FOURFOLD_TRY(model.tied_embeddings, of_tie.boolean_or("tie_word_embeddings", usually));
    if (family == nullptr)
        return described(fields, std::move(model), *importer);
    auto read = with_family(fields, model, *family);
    if (importer == nullptr)
        return read;
    // What the family's own reader does not take may be described all the same.
    if (!read && read.error().code == ProblemCode::unsupported)
        return described(fields, std::move(model), *importer);
    if (read && read->predicted_ahead == 0) {
        FOURFOLD_TRY(const int modules, config_keys::read_modules_ahead(fields));
        if (modules > 0)
            return described(fields, std::move(model), *importer);
    }
    return read;
}
} // namespace

Expected<ModelShape> model_from_config(const Json& config, const std::string& where, ImportReport* report)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(config, where));
    std::set<std::string> asked;
    FOURFOLD_TRY(ModelShape model, read_model(report != nullptr ? fields.recording(asked) : fields));
    if (model.name.empty())
        model.name = !model.id.empty() ? model.id
                                       : (model.decoder ? model.decoder->family : model.model_type) + " with "
                + std::to_string(model.layers) + " layers";
    if (report != nullptr) {
        report->family = model.decoder ? model.decoder->family : model.model_type;
        const Family* family = find_family(model.model_type);
        report->trained = family != nullptr && family->trainer_runs;
        fill_report(config, asked, *report);
    }
    return model;
}

Json config_from_model(const ModelShape& model)
{
    Json config = Json::object();
    if (!model.id.empty())
        config["id"] = model.id;
    if (!model.name.empty())
        config["name"] = model.name;
    config["model_type"] = model.model_type;
    if (const Family* family = find_family(model.model_type))
        family->write(model, config);
    config["tie_word_embeddings"] = model.tied_embeddings;
    return config;
}

} // namespace fourfold
