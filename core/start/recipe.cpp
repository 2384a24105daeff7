// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/start/recipe.h"

#include "core/base/json_fields.h"
#include "core/base/paths.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fourfold {

namespace {
constexpr const char* kKind = "recipes";

// The objects of a list that must not be empty.
Expected<std::vector<Fields>> objects_of(const Fields& fields, const std::string& key)
{
    const auto list = fields.json().find(key);
    if (list == fields.json().end() || !list->is_array() || list->empty())
        return fields.problem(key, "expected a list of objects");
    std::vector<Fields> objects;
    for (std::size_t i = 0; i < list->size(); ++i) {
        FOURFOLD_TRY(Fields object, Fields::of((*list)[i], fields.where(key) + "[" + std::to_string(i) + "]"));
        objects.push_back(std::move(object));
    }
    return objects;
}

Expected<LossPoint> point_of(const Json& pair, const Fields& curve)
{
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number())
        return curve.problem("points", "expected pairs of tokens and loss, found " + printable(pair.dump()));
    const LossPoint point{pair[0].get<double>(), pair[1].get<double>()};
    if (!(point.tokens > 0) || !std::isfinite(point.tokens) || !(point.loss > 0) || !std::isfinite(point.loss))
        return curve.problem("points", "expected numbers above 0, found " + printable(pair.dump()));
    return point;
}

Expected<LossCurve> curve_of(const Fields& fields)
{
    LossCurve curve;
    FOURFOLD_TRY(curve.name, fields.name("name"));
    FOURFOLD_TRY(curve.source, fields.name("source"));
    FOURFOLD_TRY(curve.about, fields.name_or("about", ""));
    const auto points = fields.json().find("points");
    if (points == fields.json().end() || !points->is_array() || points->size() < 2)
        return fields.problem("points", "expected at least two pairs of tokens and loss");
    for (const Json& pair : *points) {
        FOURFOLD_TRY(const LossPoint point, point_of(pair, fields));
        if (!curve.points.empty() && point.tokens <= curve.points.back().tokens)
            return fields.problem("points", "the tokens of a point are no more than those of the one before it");
        curve.points.push_back(point);
    }
    return curve;
}

bool same_model(const ModelShape& a, const ModelShape& b)
{
    const auto config = [](const ModelShape& model) {
        Json json = config_from_model(model);
        json.erase("id");
        json.erase("name");
        return json;
    };
    return a.model_type == b.model_type && config(a) == config(b);
}

bool follows(const ResolvedPlan& plan, const ResolvedPlan& recipe)
{
    return plan.training.seq_len == recipe.training.seq_len
        && plan.training.global_batch == recipe.training.global_batch && plan.run.lr == recipe.run.lr
        && same_model(plan.model, recipe.model);
}
} // namespace

std::optional<double> LossCurve::at(double tokens) const
{
    if (points.empty() || !(tokens >= points.front().tokens) || tokens > points.back().tokens)
        return std::nullopt;
    const auto behind = std::ranges::lower_bound(points, tokens, {}, &LossPoint::tokens);
    if (behind->tokens == tokens)
        return behind->loss;
    const LossPoint& before = *(behind - 1);
    const double share = std::log(tokens / before.tokens) / std::log(behind->tokens / before.tokens);
    return before.loss + share * (behind->loss - before.loss);
}

std::vector<std::string> recipe_ids(const Presets& presets)
{
    return presets.ids(kKind);
}

Expected<Recipe> read_recipe(const std::string& id, const Presets& presets)
{
    FOURFOLD_TRY(const auto file, presets.file(kKind, id));
    FOURFOLD_TRY(const Json json, read_json_file(file));
    FOURFOLD_TRY(const Fields fields, Fields::of(json, file.string()));
    Recipe recipe;
    recipe.id = id;
    FOURFOLD_TRY(recipe.name, fields.name("name"));
    FOURFOLD_TRY(recipe.hardware, fields.name("hardware"));
    FOURFOLD_TRY(recipe.time, fields.name("time"));
    FOURFOLD_TRY(recipe.text, fields.name("text"));
    const Json files = json.value("files", Json::array());
    for (const Json& name : files) {
        if (!name.is_string() || std::filesystem::path(name.get<std::string>()).filename() != name.get<std::string>())
            return fields.problem("files", "expected names of files, found " + printable(name.dump()));
        recipe.files.push_back(name.get<std::string>());
    }
    FOURFOLD_TRY(const auto steps, objects_of(fields, "steps"));
    for (const Fields& step : steps) {
        RecipeStep read;
        FOURFOLD_TRY(read.what, step.name("what"));
        FOURFOLD_TRY(read.command, step.text("command"));
        recipe.steps.push_back(std::move(read));
    }
    FOURFOLD_TRY(const auto curves, objects_of(fields, "curves"));
    for (const Fields& curve : curves) {
        FOURFOLD_TRY(LossCurve read, curve_of(curve));
        recipe.curves.push_back(std::move(read));
    }
    FOURFOLD_TRY(const auto plan, presets.file("plans", id));
    FOURFOLD_TRY(recipe.plan, read_plan(plan));
    return recipe;
}

Json to_json(const Recipe& recipe)
{
    Json json = {{"id", recipe.id}, {"name", recipe.name}, {"hardware", recipe.hardware}, {"time", recipe.time},
        {"text", recipe.text}, {"files", recipe.files}, {"steps", Json::array()}, {"curves", Json::array()},
        {"plan", recipe.plan.document}};
    for (const RecipeStep& step : recipe.steps)
        json["steps"].push_back({{"what", step.what}, {"command", step.command}});
    for (const LossCurve& curve : recipe.curves) {
        Json points = Json::array();
        for (const LossPoint& point : curve.points)
            points.push_back({point.tokens, point.loss});
        json["curves"].push_back(
            {{"name", curve.name}, {"source", curve.source}, {"about", curve.about}, {"points", std::move(points)}});
    }
    return json;
}

Expected<std::filesystem::path> recipe_file(const std::string& name)
{
    std::error_code error;
    for (const std::filesystem::path& folder : resource_folders()) {
        if (const auto file = folder / "recipes" / name; std::filesystem::is_regular_file(file, error))
            return file;
    }
    return Problem{ProblemCode::not_found, "did not come with this program", "install the package again", name};
}

namespace {
// A recipe as it was read last; it is read again when one of its files has changed.
struct KnownRecipe {
    std::filesystem::file_time_type recipe_written, plan_written;
    std::optional<std::pair<Recipe, ResolvedPlan>> read; // empty: it is no recipe
};

const KnownRecipe& known_recipe(const std::string& id, const Presets& presets)
{
    thread_local std::map<std::pair<std::filesystem::path, std::filesystem::path>, KnownRecipe> known;
    const auto file = presets.file(kKind, id), plan = presets.file("plans", id);
    const auto written = [](const Expected<std::filesystem::path>& of) {
        std::error_code error;
        return of ? std::filesystem::last_write_time(*of, error) : std::filesystem::file_time_type::min();
    };
    const auto key = std::pair(file ? *file : std::filesystem::path(id), plan ? *plan : std::filesystem::path());
    KnownRecipe now{written(file), written(plan), {}};
    const auto [found, is_new] = known.try_emplace(key);
    if (!is_new && found->second.recipe_written == now.recipe_written && found->second.plan_written == now.plan_written)
        return found->second;
    if (Expected<Recipe> recipe = read_recipe(id, presets)) {
        if (Expected<ResolvedPlan> resolved = resolve(recipe->plan, presets))
            now.read.emplace(*std::move(recipe), *std::move(resolved));
    }
    return found->second = std::move(now);
}
} // namespace

std::optional<Recipe> recipe_followed(const ResolvedPlan& plan, const Presets& presets)
{
    for (const std::string& id : recipe_ids(presets)) {
        const KnownRecipe& known = known_recipe(id, presets);
        if (known.read && follows(plan, known.read->second))
            return known.read->first;
    }
    return std::nullopt;
}

} // namespace fourfold
