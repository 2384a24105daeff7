// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/stage_layers.h"
#include "core/stack/constants.h"

#include <algorithm>

namespace fourfold {

std::vector<int> even_stage_layers(int layers, int chunks)
{
    std::vector<int> out(static_cast<std::size_t>(chunks), layers / chunks);
    std::fill_n(out.begin(), layers % chunks, layers / chunks + 1);
    return out;
}

std::vector<int> middle_stage_layers(int layers, int chunks)
{
    const int each = layers / chunks;
    std::vector<int> out(static_cast<std::size_t>(chunks), each);
    int rest = layers % chunks;
    for (std::size_t chunk = 1; chunk + 1 < out.size() && rest > 0; ++chunk, --rest)
        ++out[chunk];
    out.back() += rest;
    return out;
}

std::vector<int> stage_layers_with_ends(int layers, int chunks)
{
    std::vector<int> out(static_cast<std::size_t>(chunks), (layers + 2) / chunks);
    --out.front();
    --out.back();
    return out;
}

std::vector<int> cost_based_stage_layers(const ModelShape& model, int chunks)
{
    const double hidden = static_cast<double>(model.hidden);
    const double block = 4 * hidden * hidden + 3 * hidden * static_cast<double>(model.ffn);
    const double head = hidden * static_cast<double>(model.vocab);
    const double total = model.layers * block + head;
    std::vector<int> out(static_cast<std::size_t>(chunks), 0);
    int stage = 0;
    double sum = 0;
    for (int layer = 0; layer < model.layers; ++layer) {
        ++out[static_cast<std::size_t>(stage)];
        sum += block;
        if (stage + 1 < chunks && sum >= total * (stage + 1) / chunks)
            ++stage;
    }
    return out;
}

int cost_based_stages(const ModelShape& model, int chunks)
{
    const double hidden = static_cast<double>(model.hidden);
    const double head = hidden * static_cast<double>(model.vocab);
    const double total = model.layers * (4 * hidden * hidden + 3 * hidden * static_cast<double>(model.ffn)) + head;
    const std::vector<int> layers = cost_based_stage_layers(model, chunks);
    int stage = 0;
    while (stage + 1 < chunks && layers[static_cast<std::size_t>(stage) + 1] > 0)
        ++stage;
    double sum = total - head;
    const auto place = [&](double cost) {
        sum += cost;
        if (stage + 1 < chunks && sum >= total * (stage + 1) / chunks)
            ++stage;
    };
    place(0); // where the last layer filled its stage, the next block begins another
    for (const double cost : {0.0, head, 0.0}) // final norm, head, conversion to fp32; the loss stands behind them
        place(cost);
    return stage + 1;
}

bool last_chunk_may_hold_modules_alone(const ModelShape& model, const Stack& stack)
{
    return model.predicted_ahead > 0 && !stack.constants.contains(std::string(info(Constant::gradient_buffers).name));
}

namespace {
// What stands behind the last layer where modules predict further ahead, in layers.
double work_behind_layers(const ModelShape& model)
{
    const double head = double(model.hidden) * double(model.vocab);
    const double layer = (model.active_matmul_parameters() - head) / model.layers;
    return (head + model.active_matmul_parameters_ahead()) / layer;
}

// Modules that predict further ahead stand behind the last layer, each with the head once more: whoever trains with
// them gives the last chunk fewer layers (Megatron-Bridge's DeepSeek-V3: 4 on each of 15 stages, 1 on the last), at
// least one. Of all such splits the one whose busiest chunk has the least to compute.
std::vector<int> stage_layers_before_modules(const ModelShape& model, int chunks)
{
    const double behind = work_behind_layers(model);
    int last = 1;
    double least = 0;
    for (int few = 1; few <= model.layers / chunks; ++few) {
        const int most = (model.layers - few + chunks - 2) / (chunks - 1); // of the other chunks
        const double busiest = std::max<double>(most, few + behind);
        if (few == 1 || busiest <= least) {
            least = busiest;
            last = few;
        }
    }
    std::vector<int> out = even_stage_layers(model.layers - last, chunks - 1);
    out.push_back(last);
    return out;
}

// On a V the first stage holds the first and the last chunk, so that it is stages that must not differ: what stands
// behind the last layer takes layers from both of them. The chunks between are alike, and two of them make a stage.
std::vector<int> stage_layers_on_a_v(const ModelShape& model, const Stack& stack, int pp)
{
    const double behind = work_behind_layers(model);
    const int least_last = last_chunk_may_hold_modules_alone(model, stack) ? 0 : 1, between = 2 * pp - 2;
    int first = 1, last = least_last;
    double least = 0;
    for (int ends = 1 + least_last; ends + between <= model.layers && ends <= 2 * (model.layers / (2 * pp) + 1);
         ++ends) {
        const int rest = model.layers - ends;
        const double busiest = std::max<double>((rest + pp - 2) / (pp - 1), ends + behind);
        if (ends == 1 + least_last || busiest <= least) {
            least = busiest;
            last = std::max(least_last, ends / 2);
            first = ends - last;
        }
    }
    std::vector<int> out{first};
    for (const int layers : even_stage_layers(model.layers - first - last, between))
        out.push_back(layers);
    out.push_back(last);
    return out;
}
} // namespace

std::vector<int> default_stage_layers(
    const ModelShape& model, const Stack& stack, int pp, int virtual_stages, Schedule schedule)
{
    const int chunks = pp * virtual_stages;
    if (model.predicted_ahead > 0 && chunks > 1 && model.layers >= chunks)
        return pp > 1 && virtual_stages == 2 && traits_of(schedule).order == ChunkOrder::v
            ? stage_layers_on_a_v(model, stack, pp)
            : stage_layers_before_modules(model, chunks);
    switch (stack.stage_split) {
    case StageSplit::cost:
        return cost_based_stage_layers(model, chunks);
    case StageSplit::middle:
        return middle_stage_layers(model.layers, chunks);
    case StageSplit::equal:
        if (model.layers % chunks != 0 && (model.layers + 2) % chunks == 0)
            return stage_layers_with_ends(model.layers, chunks);
        break;
    case StageSplit::even:
        break;
    }
    return even_stage_layers(model.layers, chunks);
}

} // namespace fourfold
