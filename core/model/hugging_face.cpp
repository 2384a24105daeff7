// SPDX-License-Identifier: GPL-3.0-or-later
// Hugging Face config.json to ModelShape and back. Keys that say nothing about the shape (dtype, token ids, dropout,
// architectures ...) are ignored.
#include "core/model/family.h"

namespace fourfold {

namespace {
std::string known_types()
{
    std::string list;
    for (const Family& family : families())
        list += (list.empty() ? "" : ", ") + std::string(family.model_type);
    return list;
}
} // namespace

Expected<ModelShape> model_from_config(const Json& config, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(config, where));
    if (!fields.has("model_type"))
        return fields.missing("model_type", "one of " + known_types());
    ModelShape model;
    FOURFOLD_TRY(model.model_type, fields.text("model_type"));
    const Family* family = find_family(model.model_type);
    if (!family)
        return Problem{ProblemCode::unsupported,
            "unknown model family \"" + model.model_type + "\", known: " + known_types(), {},
            fields.where("model_type")};
    FOURFOLD_TRY(model.id, fields.text_or("id", ""));
    FOURFOLD_TRY(model.name, fields.name_or("name", ""));
    FOURFOLD_TRY(model.tied_embeddings, fields.boolean_or("tie_word_embeddings", family->tied_by_default));
    FOURFOLD_CHECK(family->read(fields, model));
    const std::string of_heads = fields.has("head_dim") ? "head_dim" : "num_attention_heads";
    if (model.head_dim > config_keys::kMostHeadDim) // derived: given, it was read with this limit
        return fields.problem(of_heads,
            "a head may be " + std::to_string(config_keys::kMostHeadDim) + " wide at most, these are "
                + std::to_string(model.head_dim));
    if (model.positions == Positions::rope && model.head_dim % 2 != 0)
        return fields.problem(
            of_heads, "rotary positions need an even head width, this one is " + std::to_string(model.head_dim));
    if (model.name.empty())
        model.name
            = model.id.empty() ? model.model_type + " with " + std::to_string(model.layers) + " layers" : model.id;
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
