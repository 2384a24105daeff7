// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/preview_sweep.h"

#include "core/predict/prediction.h"

#include <cstdio>

namespace fourfold {

namespace {

struct Outlook {
    std::string will; // "run", "follow" (a run that goes on), "known", "impossible", "unfit"
    std::string why; // of what does not run
    std::size_t hosts = 0;
    std::optional<double> tps_per_gpu, memory_gib; // predicted, or measured where it is known
};

std::string figures(const Outlook& outlook, const char* whose)
{
    char text[128] = "";
    if (outlook.tps_per_gpu && outlook.memory_gib)
        std::snprintf(text, sizeof text, "; %s %.0f tokens/s per GPU, %.2f GiB", whose, *outlook.tps_per_gpu,
            *outlook.memory_gib);
    else if (outlook.tps_per_gpu)
        std::snprintf(text, sizeof text, "; %s %.0f tokens/s per GPU", whose, *outlook.tps_per_gpu);
    return text;
}

std::string line_of(const Outlook& outlook)
{
    if (outlook.will == "run")
        return "would run"
            + (outlook.hosts > 0 ? " on " + std::to_string(outlook.hosts) + (outlook.hosts == 1 ? " host" : " hosts")
                                 : "")
            + figures(outlook, "predicted") + (outlook.why.empty() ? "" : "; " + outlook.why);
    if (outlook.will == "follow")
        return "would follow run " + outlook.why + ", which an earlier sweep began" + figures(outlook, "predicted");
    if (outlook.will == "known")
        return "is known: " + outlook.why + figures(outlook, "measured");
    return "would not run: " + outlook.why;
}

Outlook outlook_of(
    const SweepRequest& request, const SweepCell& cell, const CellResult* known, std::optional<ResolvedPlan>& runnable)
{
    Outlook out;
    if (known && known->final()) {
        out.will = "known";
        out.why = known->status + (known->why.empty() ? "" : " (" + known->why + ")");
        out.tps_per_gpu = known->tps_per_gpu;
        return out;
    }
    const auto plan = plan_of_cell(request.plan, cell);
    if (!plan) {
        out.will = "impossible";
        out.why = plan.error().message;
        return out;
    }
    const Prediction prediction = predict(*plan);
    out.tps_per_gpu = prediction.tps_per_gpu;
    out.memory_gib = prediction.memory_gib;
    const std::string reason
        = prediction.feasible || prediction.reasons.empty() ? "" : prediction.reasons.front().message;
    const Target target = target_of_cell(request.target, cell.gpus);
    if (known && known->status == "running") {
        out.will = "follow";
        out.why = known->run;
    } else if (const auto ranks = ranks_of_hosts(target, cell.gpus); !ranks) {
        out.will = "impossible";
        out.why = ranks.error().message + (ranks.error().hint.empty() ? "" : " (" + ranks.error().hint + ")");
    } else if (request.skip_unfit && !prediction.feasible) {
        out.will = "unfit";
        out.why = reason.empty() ? "predicted not to fit" : reason;
    } else {
        out.will = "run";
        out.why = prediction.feasible ? "" : "predicted not to fit: " + reason;
        out.hosts = target.hosts.size();
        if (!runnable)
            runnable = *plan;
    }
    return out;
}

} // namespace

Expected<LaunchPreview> preview_sweep(const SweepRequest& request)
{
    FOURFOLD_TRY(const SweepRecord record, open_record(request));
    LaunchPreview out{{{"cells", Json::array()}, {"record", record.file().string()}, {"run", nullptr}}, {}};
    std::optional<ResolvedPlan> first;
    int first_gpus = 0, runs = 0;
    for (const int gpus : request.gpus) {
        for (const GridLayout& layout : request.layouts) {
            const SweepCell cell{layout, gpus};
            const bool had = first.has_value();
            const Outlook outlook = outlook_of(request, cell, record.find(cell.key()), first);
            if (first && !had)
                first_gpus = gpus;
            runs += outlook.will == "run" ? 1 : 0;
            out.text += cell.name() + ": " + line_of(outlook) + "\n";
            out.document["cells"].push_back({{"cell", cell.key()}, {"tp", layout.tp}, {"cp", layout.cp},
                {"pp", layout.pp}, {"micro_batch", layout.micro_batch}, {"virtual_stages", layout.virtual_stages},
                {"gpus", gpus}, {"will", outlook.will}, {"why", outlook.why}, {"hosts", outlook.hosts},
                {"tps_per_gpu", number_or_null(outlook.tps_per_gpu)},
                {"memory_gib", number_or_null(outlook.memory_gib)}});
        }
    }
    out.document["runs"] = runs;
    out.text += std::to_string(runs) + (runs == 1 ? " run" : " runs") + "; what becomes of them is kept in "
        + record.file().string() + "\n";
    if (!first)
        return out;
    RunRequest one;
    one.plan = *std::move(first);
    one.target = target_of_cell(request.target, first_gpus);
    one.steps = request.steps;
    one.trainer = request.trainer;
    one.agent = request.agent;
    FOURFOLD_TRY(LaunchPreview run, preview(one));
    out.text += "\nthe first of them, the others alike:\n" + run.text;
    out.document["run"] = std::move(run.document);
    return out;
}

} // namespace fourfold
