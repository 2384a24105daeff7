// SPDX-License-Identifier: GPL-3.0-or-later
// Recurrences over the sequence as rows: their projections, what runs between them, their vectors.
#include "core/model/blocks.h"

namespace fourfold {

std::int64_t Scan::convolved() const
{
    if (convolution == 0)
        return 0;
    switch (kind) {
    case ScanKind::mamba2:
    case ScanKind::delta:
        return inner() + 2 * keys();
    default:
        return inner();
    }
}

namespace {
constexpr std::string_view kIn = "scan input projection";

class ScanRows {
public:
    ScanRows(Rows& rows, const ModelShape& model)
        : rows_(rows)
        , model_(model)
        , scan_(*model.decoder->scan)
    {
    }

    void add()
    {
        switch (scan_.kind) {
        case ScanKind::mamba:
            return mamba();
        case ScanKind::mamba2:
            return mamba2();
        case ScanKind::delta:
            return delta();
        case ScanKind::convolution:
            return convolution();
        case ScanKind::lightning:
            return lightning();
        }
    }

private:
    void in(std::string_view name, int64_t out, int64_t from = 0)
    {
        rows_.emplace_back(MatrixRow{Role::inner, name, out, from > 0 ? from : model_.hidden, Split::columns,
            from > 0 ? name : kIn, ParameterKind::attention, scan_.projection_bias && from == 0});
    }
    void vector(std::string_view name, int64_t width) { rows_.emplace_back(VectorRow{Role::inner, name, width, true}); }
    void out()
    {
        rows_.emplace_back(MatrixRow{Role::output, "scan.out_proj", model_.hidden, scan_.inner(), Split::rows,
            "scan output projection", ParameterKind::attention, scan_.projection_bias});
    }
    // The convolution with its weights, and the recurrence. `inputs` of a token are kept.
    void recurrence(int64_t inputs, bool products)
    {
        if (scan_.convolution > 0)
            vector("scan.conv1d.weight", scan_.convolved() * scan_.convolution);
        if (scan_.convolution_bias)
            vector("scan.conv1d.bias", scan_.convolved());
        rows_.emplace_back(ScanRow{scan_.heads, scan_.chunk, scan_.state, scan_.head_dim, inputs, scan_.inner(),
            scan_.convolved(), scan_.convolution, products, scan_.kind == ScanKind::delta});
    }

    void mamba()
    {
        const int64_t inner = scan_.inner();
        in("scan.in_proj", 2 * inner);
        in("scan.x_proj", scan_.rank + 2 * scan_.state, inner);
        if (scan_.norm)
            vector("scan.norms", scan_.rank + 2 * scan_.state);
        in("scan.dt_proj", inner, scan_.rank);
        vector("scan.dt_proj.bias", inner);
        vector("scan.A_log", inner * scan_.state);
        vector("scan.D", inner);
        recurrence(4 * inner, false); // x before and behind the convolution, its gate, the steps
        out();
    }
    void mamba2()
    {
        in("scan.in_proj", 2 * scan_.inner() + 2 * scan_.keys() + scan_.heads);
        vector("scan.dt_bias", scan_.heads);
        vector("scan.A_log", scan_.heads);
        vector("scan.D", scan_.heads);
        recurrence(3 * scan_.inner() + 4 * scan_.keys() + scan_.heads, true);
        if (scan_.norm)
            vector("scan.norm.weight", scan_.inner());
        out();
    }
    void delta()
    {
        in("scan.in_proj_qkv", scan_.inner() + 2 * scan_.keys());
        const int64_t decays = scan_.heads * (scan_.channel_decay ? scan_.state : 1);
        gate("scan.decay_down_proj", "scan.decay_proj", decays, scan_.channel_decay ? scan_.rank : 0);
        gate("scan.gate_down_proj", "scan.gate_proj", scan_.inner(), scan_.channel_decay ? scan_.rank : 0);
        in("scan.in_proj_b", scan_.heads);
        vector("scan.dt_bias", decays);
        vector("scan.A_log", scan_.heads);
        recurrence(3 * scan_.inner() + 4 * scan_.keys() + decays + scan_.heads, true);
        vector("scan.norm.weight", scan_.head_dim);
        out();
    }
    void gate(std::string_view down, std::string_view name, int64_t width, int64_t rank)
    {
        if (rank > 0)
            rows_.emplace_back(MatrixRow{Role::inner, down, rank, model_.hidden, Split::none, down});
        in(name, width, rank);
    }
    void convolution()
    {
        in("scan.in_proj", 3 * scan_.inner());
        recurrence(4 * scan_.inner(), false);
        out();
    }
    void lightning()
    {
        in("scan.qkv_proj", 3 * scan_.inner());
        in("scan.output_gate", scan_.inner());
        recurrence(4 * scan_.inner(), true);
        vector("scan.norm.weight", scan_.inner());
        out();
    }

    Rows& rows_;
    const ModelShape& model_;
    const Scan& scan_;
};
} // namespace

void add_scan(Rows& rows, const ModelShape& model)
{
    if (model.decoder && model.decoder->scan)
        ScanRows(rows, model).add();
}

} // namespace fourfold
