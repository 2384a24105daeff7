// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/refit/corpus.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/calibration/fit/measured_row.h"
#include "core/model/flops.h"

#include <algorithm>

namespace fourfold {
namespace {

struct Entry {
    const char *id, *file;
};
constexpr Entry kEntries[] = {{"4d", "llama31_8b_4d_a100_h100"}, {"bloom", "bloom_prequel_a100"},
    {"torchtitan", "torchtitan_llama31_h100"}, {"vtrain", "vtrain_gpt_a100"}, {"playbook", "playbook_nanotron_h100"}};

constexpr const char* kPlaybook = "ultrascale-playbook-nanotron";

double model_flops_utilisation(const MeasuredRow& row)
{
    const double flops = *row.tps_per_gpu * model_flops_per_token(row.plan.model, row.plan.training.seq_len);
    return flops / row.plan.cluster.gpu.peak_flops(row.plan.training.precision);
}

bool is_healthy(const MeasuredRow& row, double least_mfu)
{
    if (row.source != kPlaybook)
        return true;
    return row.plan.layout.tp <= 8 && (!row.tps_per_gpu || model_flops_utilisation(row) >= least_mfu);
}

} // namespace

const std::vector<std::string>& corpus_ids()
{
    static const std::vector<std::string> kIds = [] {
        std::vector<std::string> ids;
        for (const Entry& entry : kEntries)
            ids.emplace_back(entry.id);
        return ids;
    }();
    return kIds;
}

bool is_core(const MeasuredRow& row)
{
    return is_healthy(row, 0.10);
}

FitRow fit_row(const MeasuredRow& row)
{
    FitRow fit = fit_row_of(row);
    fit.time_weight = is_healthy(row, 0.05) ? 1 : 0;
    fit.memory_weight = row.plan.layout.tp <= 8 ? 1 : 0;
    return fit;
}

Expected<Corpus> read_corpus(const std::string& id, const std::filesystem::path& extra, const Presets& presets)
{
    const Entry* entry = std::find_if(
        std::begin(kEntries), std::end(kEntries), [&](const Entry& candidate) { return candidate.id == id; });
    if (entry == std::end(kEntries))
        return Problem{ProblemCode::bad_input, "there is no body of measurements " + in_quotes(id),
            "known: " + joined(corpus_ids(), ", "), "arguments"};
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    std::filesystem::path file;
    std::vector<std::filesystem::path> folders;
    for (const auto& folder : preset_folders())
        folders.push_back(folder / "published");
    folders.push_back(extra);
    for (const auto& folder : folders) {
        std::error_code error;
        file = folder / (std::string(entry->file) + ".csv");
        if (std::filesystem::is_regular_file(file, error))
            break;
    }
    Corpus corpus;
    corpus.id = id;
    FOURFOLD_TRY(corpus.table, read_measured_table(file, sources, presets));
    for (std::size_t i = 0; i < corpus.table.rows.size(); ++i) {
        const MeasuredRow& row = corpus.table.rows[i];
        if (row.excluded || !tells_a_run(row))
            continue;
        corpus.used.push_back(i);
        corpus.rows.push_back(fit_row(row));
        if (const TableSource* source = sources.source(row.source); source != nullptr && corpus.splits.empty()) {
            corpus.splits = source->splits;
            corpus.stack = row.plan.stack.id;
        }
    }
    if (corpus.rows.empty())
        return Problem{ProblemCode::bad_input, "no row can be used", "", file.string()};
    return corpus;
}

} // namespace fourfold
