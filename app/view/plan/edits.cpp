// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/edits.h"

#include "core/model/config_file.h"
#include "core/model/import_report.h"
#include "core/plan/fields.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
void erase(Json& document, const char* object, const char* key)
{
    const auto found = document.find(object);
    if (found != document.end() && found->is_object())
        found->erase(key);
}

// Creates the objects above the key; null takes the key out, which gives it its default back.
void put(Json& object, const std::string& path, const Json& value)
{
    const std::size_t dot = path.find('.');
    const std::string key = path.substr(0, dot);
    if (dot == std::string::npos) {
        if (value.is_null())
            object.erase(key);
        else
            object[key] = value;
        return;
    }
    Json& child = object[key];
    if (!child.is_object())
        child = Json::object();
    put(child, path.substr(dot + 1), value);
}

std::optional<ImportReport> report_of(const Plan& plan)
{
    const Json& config = value_at(plan.document, "model");
    ImportReport report;
    if (!config.is_object() || !model_from_config(config, plan.where, &report))
        return {};
    return report;
}

Expected<Plan> rebuilt(const Plan& plan, Json document)
{
    return plan_from_json(std::move(document), plan.where);
}

// The sequence length that the plan would have if it wrote none; 0 where it does not resolve.
int64_t usual_length(Plan plan, const Presets& presets)
{
    erase(plan.document, "training", "seq_len");
    const Expected<ResolvedPlan> resolved = resolve(plan, presets);
    return resolved ? resolved->training.seq_len : 0;
}
} // namespace

Expected<Plan> with_value(const Plan& plan, const std::string& path, const Json& value)
{
    Json document = plan.document;
    put(document, path, value);
    if (path == "gpus" || path == "layout.tp" || path == "layout.cp" || path == "layout.pp")
        erase(document, "layout", "dp");
    if (path == "layout.pp" || path == "layout.virtual_stages")
        erase(document, "layout", "stage_layers"); // its length was pp * virtual_stages of before
    if (path == "training.global_batch")
        erase(document, "training", "micro_batches");
    if (path == "training.micro_batches" && !value.is_null())
        erase(document, "training", "global_batch"); // it follows now
    return rebuilt(plan, std::move(document));
}

Expected<Plan> with_model(const Plan& plan, const ModelShape& shape)
{
    Json document = plan.document;
    document["model"] = config_from_model(shape);
    erase(document, "layout", "stage_layers");
    return rebuilt(plan, std::move(document));
}

Expected<Plan> with_cluster(const Plan& plan, const Cluster& cluster)
{
    Json document = plan.document;
    document["cluster"] = to_json(cluster);
    return rebuilt(plan, std::move(document));
}

Expected<Plan> with_fields(const Plan& plan, const std::vector<PlanEdit::Field>& fields)
{
    Json document = plan.document;
    for (const PlanEdit::Field& field : fields)
        put(document, field.path, field.value);
    return rebuilt(plan, std::move(document));
}

Expected<Plan> with_other_model(const Plan& plan, const Presets& presets, Json model)
{
    Json document = plan.document;
    document["model"] = std::move(model);
    erase(document, "layout", "stage_layers");
    FOURFOLD_TRY(Plan changed, rebuilt(plan, std::move(document)));
    const Expected<ResolvedPlan> before = resolve(plan, presets), after = resolve(changed, presets);
    if (!before || !after)
        return changed; // what is wrong with it is told beside its field
    const Training& old = before->training;
    const int64_t length = old.seq_len, usual = usual_length(plan, presets), new_usual = usual_length(changed, presets);
    const auto covers
        = [length](const ModelShape& shape) { return shape.max_positions <= 0 || length <= shape.max_positions; };
    const int64_t next = length == usual                 ? new_usual
        : covers(before->model) && !covers(after->model) ? after->model.max_positions
                                                         : length;
    if (next == length)
        return changed;

    document = changed.document;
    if (!value_at(document, "training.seq_len").is_null())
        put(document, "training.seq_len", next);
    const double shrink = double(length) / double(next);
    const auto scaled = [shrink](double count) { return std::clamp(std::round(count * shrink), 1.0, 1e9); };
    const auto micro = static_cast<int>(scaled(old.micro_batch));
    if (micro != old.micro_batch)
        put(document, "training.micro_batch", micro);
    if (!value_at(document, "training.global_batch").is_null()
        || !value_at(document, "training.micro_batches").is_null()) {
        const double unit = double(micro) * before->layout.dp;
        const double batch = unit * std::clamp(std::round(old.global_batch * shrink / unit), 1.0, 1e9 / unit);
        put(document, "training.global_batch", static_cast<int>(batch));
        erase(document, "training", "micro_batches");
    }
    return rebuilt(plan, std::move(document));
}

Expected<Plan> with_hugging_face_config(const Plan& plan, const Presets& presets, const std::filesystem::path& file)
{
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        return with_hugging_face_config(plan, presets, file / "config.json");
    FOURFOLD_TRY(Json config, read_config_file(file, false));
    FOURFOLD_TRY([[maybe_unused]] const ModelShape shape, model_from_config(config, file.string()));
    return with_other_model(plan, presets, std::move(config));
}

std::vector<std::string> config_report(const Plan& plan)
{
    const std::optional<ImportReport> report = report_of(plan);
    return report ? lines_of(*report) : std::vector<std::string>();
}

bool ignores_keys(const Plan& plan)
{
    const std::optional<ImportReport> report = report_of(plan);
    return report && !report->ignored.empty();
}

Plan copy_of(Plan plan, const std::string& title)
{
    plan.where.clear();
    const Json name = value_at(plan.document, "name");
    plan.document["name"] = (name.is_string() ? name.get<std::string>() : title) + ", copy";
    return plan;
}

ModelShape with_hidden(ModelShape shape, int64_t hidden)
{
    const bool follows = shape.heads > 0 && shape.head_dim == shape.hidden / shape.heads;
    shape.hidden = hidden;
    if (follows)
        shape.head_dim = hidden / shape.heads;
    return shape;
}

ModelShape with_heads(ModelShape shape, int heads)
{
    const bool follows = shape.heads > 0 && shape.head_dim == shape.hidden / shape.heads;
    const bool multi_head = shape.kv_heads == shape.heads;
    shape.heads = heads;
    if (multi_head)
        shape.kv_heads = heads;
    if (follows)
        shape.head_dim = shape.hidden / heads;
    return shape;
}

} // namespace fourfold::view
