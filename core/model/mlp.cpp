// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/blocks.h"

namespace fourfold {
namespace {

// What explanations call it, and its products.
struct MlpWords {
    std::string_view label, up, down;
};

struct MlpRows {
    std::vector<MatrixRow> in;
    ActivationRow activation;
    MatrixRow out;
};

MlpRows mlp_of(const ModelShape& m, const MlpNames& names, int64_t width, ParameterKind kind, bool bias,
    const MlpWords& words, int64_t hidden = 0)
{
    if (hidden == 0)
        hidden = m.hidden;
    MlpRows mlp;
    const auto add_in = [&](Role role, std::string_view name) {
        mlp.in.push_back({role, name, width, hidden, Split::columns, words.up, kind, bias});
    };
    if (m.gated())
        add_in(Role::gate, names.gate);
    add_in(Role::up, names.up);
    mlp.activation = {words.label, width, int(mlp.in.size())};
    mlp.out = {Role::down, names.down, hidden, width, Split::rows, words.down, kind, bias};
    return mlp;
}

void append_mlp(Rows& rows, const MlpRows& mlp)
{
    rows.insert(rows.end(), mlp.in.begin(), mlp.in.end());
    rows.emplace_back(mlp.activation);
    rows.emplace_back(mlp.out);
}

} // namespace

void add_mlp(Rows& rows, const ModelShape& m, const MlpNames& names)
{
    append_mlp(rows, mlp_of(m, names, m.ffn, ParameterKind::mlp, m.linear_bias, {"MLP", "mlp up", "mlp down"}));
}

void add_experts(Rows& rows, const ModelShape& m, const ExpertNames& names)
{
    const Experts& experts = *m.experts;
    rows.emplace_back(MatrixRow{Role::router, names.router, experts.count, m.hidden, Split::none, "router",
        ParameterKind::router, names.biases});
    if (!names.routing_bias.empty())
        rows.emplace_back(VectorRow{Role::routing_bias, names.routing_bias, experts.count});
    MlpRows each = mlp_of(m, names.each, experts.ffn, ParameterKind::expert, names.biases,
        {"expert", "experts up", "experts down"}, names.hidden);
    each.in.push_back(each.out);
    rows.emplace_back(ExpertsRow{experts.count, std::move(each.in), each.activation});
    if (experts.shared > 0 && !names.shared.up.empty())
        add_shared_mlp(rows, m, names.shared, experts.shared * experts.ffn);
}

void add_shared_mlp(Rows& rows, const ModelShape& m, const MlpNames& names, int64_t width)
{
    append_mlp(rows,
        mlp_of(
            m, names, width, ParameterKind::mlp, false, {"shared expert", "shared expert up", "shared expert down"}));
}

} // namespace fourfold
