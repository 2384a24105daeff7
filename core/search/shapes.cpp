// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/shapes.h"
#include "core/plan/plan_constants.h"

#include "core/base/parallel.h"
#include "core/cost/prices.h"
#include "core/plan/derived.h"
#include "core/plan/stage_layers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace fourfold {
namespace {

// Shares of lost time below these are what any shape has.
constexpr double kManyTiles = 0.05, kManyWaves = 0.10;
constexpr std::int64_t kTileEdge = 128;

Problem refused(const std::string& message)
{
    return {ProblemCode::bad_input, message, "", "shape"};
}

int nearest_divisor(int number, double wanted)
{
    int best = 1;
    for (int i = 1; i <= number; ++i) {
        if (number % i == 0 && std::abs(i - wanted) < std::abs(best - wanted))
            best = i;
    }
    return best;
}

// In the proportion of the model's own, kept to multiples that the model's own keeps.
std::int64_t scaled_width(std::int64_t width, std::int64_t from, std::int64_t to)
{
    if (width % from == 0)
        return width / from * to;
    constexpr std::int64_t kStep = 256;
    return std::max<std::int64_t>(1, std::llround(double(width) * double(to) / double(from) / kStep)) * kStep;
}

struct Shape {
    int layers = 0, hidden = 0, heads = 0;
    auto operator<=>(const Shape&) const = default;
};

std::vector<int> usual_hidden(const ModelShape& model)
{
    constexpr int kStep = 256;
    std::vector<int> sizes;
    const int from = int(std::ceil(0.7 * double(model.hidden) / kStep)), to = int(1.4 * double(model.hidden) / kStep);
    for (int i = std::max(1, from); i <= to; ++i)
        sizes.push_back(i * kStep);
    sizes.push_back(int(model.hidden));
    return sizes;
}

std::vector<int> usual_heads(int hidden, int tp)
{
    constexpr int kLeast = 64, kMost = 256; // head dimensions
    std::vector<int> counts;
    for (int heads = 1; heads <= hidden / kLeast; ++heads) {
        if (hidden % heads == 0 && hidden / heads <= kMost && heads % tp == 0)
            counts.push_back(heads);
    }
    return counts;
}

// The multiple of `stages` whose size comes nearest; parameters grow linearly with layers.
int layers_for(const ResolvedPlan& plan, double parameters, int hidden, int heads, int stages)
{
    const auto one = with_shape(plan, 1, hidden, heads), two = with_shape(plan, 2, hidden, heads);
    if (!one || !two)
        return 0;
    const double of_one = one->model.parameters(), of_layer = two->model.parameters() - of_one;
    const double layers = 1 + (parameters - of_one) / of_layer;
    return std::max(1, int(std::lround(layers / stages))) * stages;
}

std::vector<Shape> shapes_of(const ShapeRequest& request, double parameters)
{
    const ResolvedPlan& plan = request.search.plan;
    const ShapeSpace& space = request.space;
    std::set<Shape> shapes;
    for (const int hidden : space.hidden.empty() ? usual_hidden(plan.model) : space.hidden) {
        for (const int heads : space.heads.empty() ? usual_heads(hidden, plan.layout.tp) : space.heads) {
            if (hidden % heads != 0)
                continue;
            std::vector<int> depths = space.layers;
            if (depths.empty())
                depths = {layers_for(plan, parameters, hidden, heads, plan.layout.pp * plan.layout.virtual_stages)};
            for (const int layers : depths)
                shapes.insert({layers, hidden, heads});
        }
    }
    std::vector<Shape> list(shapes.begin(), shapes.end());
    std::erase_if(list, [&](const Shape& shape) {
        const auto shaped = with_shape(plan, shape.layers, shape.hidden, shape.heads);
        return !shaped || std::abs(shaped->model.parameters() / parameters - 1) > space.tolerance;
    });
    return list;
}

// The best layout of the shape by the request's objective; nothing where there is none.
std::optional<ResolvedPlan> best_layout(const ShapeRequest& request, const ResolvedPlan& shaped)
{
    SearchRequest search_request = request.search;
    search_request.plan = shaped;
    search_request.top = 1;
    search_request.threads = 1;
    const SearchResult result = search(search_request);
    if (result.best.empty())
        return std::nullopt;
    return plan_of(result.best.front(), search_request);
}

std::optional<FoundShape> evaluated(const ShapeRequest& request, const Shape& shape, double parameters)
{
    auto shaped = with_shape(request.search.plan, shape.layers, shape.hidden, shape.heads);
    if (!shaped)
        return std::nullopt;
    ResolvedPlan plan = *std::move(shaped);
    if (request.vary_layout) {
        auto best = best_layout(request, plan);
        if (!best)
            return std::nullopt;
        plan = *std::move(best);
    }
    const Prediction prediction = predict(plan);
    if (!prediction.step_time_s || !prediction.memory_device_gib)
        return std::nullopt;
    FoundShape found;
    found.parameters = plan.model.parameters();
    found.step_time_s = *prediction.step_time_s;
    found.tps_per_gpu = *prediction.tps_per_gpu;
    found.mfu = prediction.mfu.value_or(prediction.mfu_bf16_peak.value_or(0));
    found.memory_device_gib = *prediction.memory_device_gib;
    found.fit = prediction.fit;
    found.gpu_seconds = 1e6 / found.tps_per_gpu * parameters / found.parameters;
    found.waste = waste_of(prediction);
    found.plan = std::move(plan);
    return found;
}

std::string percent(double share)
{
    return text_of("%.0f %%", 100 * share);
}

void add_alignment(const ResolvedPlan& plan, std::vector<std::string>& reasons)
{
    const ModelShape& model = plan.model;
    const std::int64_t edge = kTileEdge * plan.layout.tp;
    const auto width = [](std::int64_t value) { return std::to_string(value); };
    if (model.head_dim % 8 != 0)
        reasons.push_back("head dimension " + width(model.head_dim) + " is not a multiple of 8: no tensor cores");
    else if (model.head_dim % 64 != 0)
        reasons.push_back("head dimension " + width(model.head_dim) + " is not a multiple of 64");
    // Batched products at exactly 128 are slower in some stacks than beside it: a constant of theirs, measured.
    const Constants constants = constants_of(plan);
    const AttentionKernel kernel = plan.training.attention;
    const bool batched = kernel == AttentionKernel::unfused || kernel == AttentionKernel::fused_softmax;
    if (model.head_dim == 128 && batched && constants[Constant::head_dim_128_efficiency] > 0)
        reasons.emplace_back("head dimension 128 is slow in this stack's unfused attention");
    if (model.hidden % edge != 0)
        reasons.push_back("hidden " + width(model.hidden) + " is not a multiple of 128 x tp = " + width(edge));
    if (model.ffn % edge != 0)
        reasons.push_back("MLP " + width(model.ffn) + " is not a multiple of 128 x tp = " + width(edge));
}

} // namespace

Expected<ResolvedPlan> with_shape(const ResolvedPlan& plan, int layers, int hidden, int heads)
{
    if (plan.model.latent)
        return refused("latent attention has ranks of its own, which no proportion gives");
    if (layers < 1 || hidden < 1 || heads < 1 || hidden % heads != 0)
        return refused("heads " + std::to_string(heads) + " do not divide hidden " + std::to_string(hidden));
    ResolvedPlan shaped = plan;
    const ModelShape& from = plan.model;
    ModelShape& model = shaped.model;
    model.id.clear();
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.head_dim = hidden / heads;
    model.kv_heads = nearest_divisor(heads, double(from.kv_heads) * heads / from.heads);
    model.ffn = scaled_width(from.ffn, from.hidden, hidden);
    if (model.experts) {
        model.experts->ffn = scaled_width(from.experts->ffn, from.hidden, hidden);
        model.experts->dense_layers = std::min(from.experts->dense_layers, layers);
    }
    if (layers != from.layers)
        shaped.layout.stage_layers = default_stage_layers(
            model, shaped.stack, shaped.layout.pp, shaped.layout.virtual_stages, shaped.training.schedule);
    shaped.padded_vocab = padded_vocabulary(shaped);
    return shaped;
}

ShapeWaste waste_of(const Prediction& prediction)
{
    ShapeWaste waste;
    const int multiprocessors = prediction.plan.cluster.gpu.multiprocessors;
    double products = 0, all = 0, worst = 0;
    const PricedOperation* worst_product = nullptr;
    for (const PricedOperation& priced : prediction.operations) {
        const Operation& operation = priced.operation;
        if (operation.phase == Phase::step || operation.is<HostCost>())
            continue;
        const double seconds = priced.seconds * operation.repeat;
        all += seconds;
        if (operation.is<Attention>())
            waste.attention += seconds;
        const Gemm* product = operation.as<Gemm>();
        if (product == nullptr)
            continue;
        // With one multiprocessor there are no partial waves: what is left are the tiles.
        const double filled = tile_and_wave_utilisation(product->m, product->n, product->batch, 1);
        const double used = tile_and_wave_utilisation(product->m, product->n, product->batch, multiprocessors);
        products += seconds;
        waste.tiles += seconds * (1 - (multiprocessors > 0 ? filled : 1));
        waste.waves += seconds * (1 - (multiprocessors > 0 ? used / filled : 1));
        if (seconds * (1 - used) > worst) {
            worst = seconds * (1 - used);
            worst_product = &priced;
        }
    }
    if (products > 0) {
        waste.tiles /= products;
        waste.waves /= products;
    }
    if (all > 0)
        waste.attention /= all;
    add_alignment(prediction.plan, waste.reasons);
    const std::string where = worst_product ? ", most of it in the " + worst_product->operation.name : "";
    if (waste.tiles > kManyTiles)
        waste.reasons.push_back("unfilled tiles cost " + percent(waste.tiles) + " of the matrix products" + where);
    if (waste.waves > kManyWaves)
        waste.reasons.push_back("partial waves cost " + percent(waste.waves) + " of the matrix products" + where);
    return waste;
}

ShapeResult search_shapes(
    const ShapeRequest& request, std::stop_token stop) // NOLINT(performance-unnecessary-value-param)
{
    ShapeResult result;
    result.parameters
        = request.space.parameters > 0 ? request.space.parameters : request.search.plan.model.parameters();
    const std::vector<Shape> shapes = shapes_of(request, result.parameters);
    result.tried = std::int64_t(shapes.size());
    std::vector<std::optional<FoundShape>> found(shapes.size());
    for_each_parallel(shapes.size(), request.threads, stop,
        [&](std::size_t i) { found[i] = evaluated(request, shapes[i], result.parameters); });
    for (std::optional<FoundShape>& shape : found) {
        if (shape)
            result.shapes.push_back(*std::move(shape));
        else
            ++result.broken_rules;
    }
    const auto key = [](const FoundShape& shape) { return std::pair(shape.fit == Fit::no, shape.gpu_seconds); };
    std::stable_sort(result.shapes.begin(), result.shapes.end(),
        [&](const FoundShape& a, const FoundShape& b) { return key(a) < key(b); });
    for (FoundShape& shape : result.shapes)
        shape.loss = 1 - result.shapes.front().gpu_seconds / shape.gpu_seconds;
    return result;
}

} // namespace fourfold
