// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/measure/single_operations.h"

#include "runner/trainer/model/attention.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <numeric>
#include <set>

namespace fourfold::trainer {

namespace {

constexpr double kSeconds = 0.012; // of each measurement

at::TensorOptions options_of(const Measuring& measuring)
{
    const Precision precision = measuring.plan.training.precision;
    const auto type = precision == Precision::fp32 ? at::kFloat
        : precision == Precision::fp16             ? at::kHalf
                                                   : at::kBFloat16;
    return at::TensorOptions().dtype(type).device(measuring.cuda ? at::kCUDA : at::kCPU);
}

// Who does it at the same time, with how many threads each: one rank alone, and all of them.
struct Crowd {
    int ranks, threads;
};

std::set<std::pair<int, int>> crowds(const Measuring& measuring)
{
    return {{1, 1}, {1, measuring.most_threads}, {measuring.ranks, measuring.threads}};
}

// `all`: also on all ranks at once.
void in_crowds(const Measuring& measuring, const Json& what, bool all, const std::function<void()>& work)
{
    for (const auto& [ranks, threads] : crowds(measuring)) {
        if (ranks > 1 && !all)
            continue;
        at::set_num_threads(threads);
        const double seconds = measuring.watch.time(measuring.rank < ranks, kSeconds, work);
        Json out = what;
        out.update({{"ranks", ranks}, {"threads", threads}, {"seconds", seconds}});
        measuring.tell(std::move(out));
    }
    at::set_num_threads(measuring.threads);
}

} // namespace

void measure_products(const Measuring& measuring)
{
    const at::NoGradGuard none;
    const ModelShape& model = measuring.plan.model;
    const auto options = options_of(measuring);
    const int64_t hidden = model.hidden, ffn = model.ffn;
    const int64_t query = int64_t(model.heads) * model.head_dim;
    // Output and input features of a layer's products, whole and as tensor parallelism cuts them.
    const std::set<std::pair<int64_t, int64_t>> features{
        {query, hidden}, {hidden, query}, {ffn, hidden}, {hidden, ffn}, {ffn / 4, hidden}, {hidden, ffn / 4}};
    for (const int64_t sequences : {1, 16}) {
        const int64_t m = measuring.plan.training.seq_len * sequences;
        for (const auto& [n, k] : features) {
            if (n < 1 || k < 1)
                continue;
            const at::Tensor x = at::ones({m, k}, options), weight = at::ones({n, k}, options),
                             slope = at::ones({m, n}, options);
            const auto product = [&](const char* form, const std::function<at::Tensor()>& work) {
                in_crowds(measuring, {{"what", "product"}, {"form", form}, {"m", m}, {"n", n}, {"k", k}},
                    n == ffn && sequences > 1, [&] { (void)work(); });
            };
            product("forward", [&] { return at::mm(x, weight.t()); });
            product("input_gradient", [&] { return at::mm(slope, weight); });
            product("weight_gradient", [&] { return at::mm(slope.t(), x); });
        }
    }
}

void measure_passes(const Measuring& measuring)
{
    const at::NoGradGuard none;
    const auto options = options_of(measuring);
    for (const int64_t elements :
        {int64_t(1), int64_t(1) << 12, int64_t(1) << 16, int64_t(1) << 20, int64_t(1) << 23}) {
        const at::Tensor a = at::ones({elements}, options), b = at::ones({elements}, options);
        at::Tensor sum = at::empty({elements}, options);
        const auto bytes = double(3 * elements * a.element_size());
        Json what{{"what", "pass"}, {"bytes", bytes}};
        if (elements == 1)
            what = {{"what", "launch"}};
        in_crowds(measuring, what, true, [&] { at::add_out(sum, a, b); });
    }
}

void measure_attention(const Measuring& measuring)
{
    const at::NoGradGuard none;
    const ModelShape& model = measuring.plan.model;
    const auto options = options_of(measuring);
    AttentionRule rule;
    rule.kernel = measuring.plan.training.attention;
    rule.scale = 1 / std::sqrt(double(model.head_dim));
    for (const int64_t sequences : {1, 8}) {
        const int64_t s = measuring.plan.training.seq_len;
        const at::Tensor query = at::ones({s, sequences, model.heads, model.head_dim}, options);
        const at::Tensor key = at::ones({s, sequences, model.kv_heads, model.head_dim}, options);
        in_crowds(measuring,
            {{"what", "attention"}, {"queries", s}, {"head_dim", model.head_dim}, {"batch", sequences * model.heads}},
            true, [&] { (void)causal_attention(query, key, key, {}, rule); });
    }
}

namespace {

// One kind of collective of `bytes` a rank (of an all-gather and a reduce-scatter: the whole, as the cost model
// counts).
std::function<void()> collective_of(
    const std::string& kind, const Communicator& group, int64_t bytes, const at::TensorOptions& options)
{
    const int64_t size = group.size();
    const int64_t part = std::max<int64_t>(1, bytes / int64_t(sizeof(float)) / size);
    const at::Tensor whole = at::ones({part * size}, options), own = at::ones({part}, options);
    const int next = int((group.rank() + 1) % size), before = int((group.rank() + size - 1) % size);
    if (kind == "all_reduce")
        return [=, &group] { group.all_reduce(whole); };
    if (kind == "all_gather")
        return [=, &group] { group.all_gather_into(whole, own); };
    if (kind == "reduce_scatter")
        return [=, &group] { group.reduce_scatter_into(own, whole); };
    if (kind == "all_to_all") {
        const std::vector<int64_t> rows(std::size_t(size), part);
        return [=, &group] { (void)group.all_to_all(whole, rows, rows); };
    }
    const at::Tensor received = at::empty_like(whole); // send_receive: a message round the ring
    return [=, &group] {
        group.start_exchange({{Transfer::Way::send, whole, next, 1}, {Transfer::Way::receive, received, before, 1}})
            .wait();
    };
}

} // namespace

void measure_collectives(const Measuring& measuring, const TransportFactory& make_transport)
{
    const at::NoGradGuard none;
    const auto options = at::TensorOptions().dtype(at::kFloat).device(measuring.cuda ? at::kCUDA : at::kCPU);
    const int per_node = std::max(1, measuring.plan.cluster.gpus_per_node);
    for (int size = 2; size <= measuring.ranks; size *= 2) {
        const int groups = measuring.ranks / size, own = measuring.rank / size;
        std::vector<int> members(std::size_t(std::min(size, measuring.ranks)));
        std::iota(members.begin(), members.end(), own * size);
        Communicator group;
        if (own < groups)
            group = Communicator("measure", members, measuring.rank - own * size,
                make_transport(
                    "measure" + std::to_string(size) + "/" + std::to_string(own), members, measuring.rank - own * size),
                std::make_shared<FlightRecorder>());
        for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_receive"})
            for (const int64_t bytes : {int64_t(1) << 10, int64_t(1) << 16, int64_t(1) << 19, int64_t(1) << 22})
                for (const int at_once : std::set<int>{1, groups}) {
                    const bool takes_part = own < at_once;
                    const auto work
                        = takes_part ? collective_of(kind, group, bytes, options) : std::function<void()>([] {});
                    const double seconds = measuring.watch.time(takes_part, kSeconds, work);
                    measuring.tell({{"what", "collective"}, {"kind", kind}, {"group", size}, {"groups", at_once},
                        {"nodes", (size + per_node - 1) / per_node}, {"bytes", bytes}, {"seconds", seconds}});
                }
    }
}

} // namespace fourfold::trainer
