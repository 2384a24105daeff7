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
    const char *id, *stack;
    std::vector<const char*> files;
};
const std::vector<Entry>& entries()
{
    static const std::vector<Entry> kEntries{{"4d", "megatron-lm", {"llama31_8b_4d_a100_h100"}},
        {"bloom", "megatron-deepspeed", {"bloom_prequel_a100"}},
        {"torchtitan", "torchtitan", {"torchtitan_llama31_h100"}}, {"vtrain", "megatron-lm", {"vtrain_gpt_a100"}},
        {"playbook", "nanotron", {"playbook_nanotron_h100"}},
        {"core", "megatron-core", {"nvidia_dgxc_h100", "nvidia_megatron_bridge"}},
        {"foundry", "llm-foundry", {"llm_foundry_a100"}}};
    return kEntries;
}

std::filesystem::path file_of(const std::string& name, const std::filesystem::path& extra)
{
    std::filesystem::path file;
    std::vector<std::filesystem::path> folders;
    for (const auto& folder : preset_folders())
        folders.push_back(folder / "published");
    folders.push_back(extra);
    for (const auto& folder : folders) {
        std::error_code error;
        file = folder / (name + ".csv");
        if (std::filesystem::is_regular_file(file, error))
            break;
    }
    return file;
}

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
        for (const Entry& entry : entries())
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
    const auto entry
        = std::find_if(entries().begin(), entries().end(), [&](const Entry& candidate) { return candidate.id == id; });
    if (entry == entries().end())
        return Problem{ProblemCode::bad_input, "there is no body of measurements " + in_quotes(id),
            "known: " + joined(corpus_ids(), ", "), "arguments"};
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    Corpus corpus;
    corpus.id = id;
    corpus.stack = entry->stack;
    for (const char* name : entry->files) {
        FOURFOLD_TRY(const MeasuredTable table, read_measured_table(file_of(name, extra), sources, presets));
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            const MeasuredRow& row = table.rows[i];
            if (row.excluded || !tells_a_run(row) || row.plan.stack.id != corpus.stack)
                continue;
            corpus.used.emplace_back(corpus.tables.size(), i);
            corpus.rows.push_back(fit_row(row));
            if (const TableSource* source = sources.source(row.source); source != nullptr && corpus.splits.empty())
                corpus.splits = source->splits;
        }
        corpus.tables.push_back(table);
    }
    if (corpus.rows.empty())
        return Problem{ProblemCode::bad_input, "no row can be used", "", "body " + id};
    return corpus;
}

} // namespace fourfold
