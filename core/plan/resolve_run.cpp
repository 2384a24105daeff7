// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"
#include "core/plan/resolve.h"

namespace fourfold {

namespace {
Expected<std::vector<DataSource>> read_data(const Json& list, const std::string& where, const std::string& path)
{
    std::vector<DataSource> out;
    if (list.is_null())
        return out;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string at = path + "." + std::to_string(i);
        const Json& entry = list[i];
        DataSource source;
        source.path = member_or<std::string>(entry, "path", "");
        if (source.path.empty())
            return Problem{
                ProblemCode::bad_input, "missing, expected the name of a data file", "", at_field(where, at + ".path")};
        source.weight = member_or(entry, "weight", source.weight);
        source.dtype = member_or(entry, "dtype", source.dtype);
        if (const Json& range = member(entry, "range"); !range.is_null()) {
            source.begin = range[0].get<double>();
            source.end = range[1].get<double>();
            if (!(source.begin < source.end))
                return Problem{ProblemCode::bad_input, "found " + range.dump() + ", expected begin below end", "",
                    at_field(where, at + ".range")};
        }
        out.push_back(source);
    }
    return out;
}
} // namespace

Expected<RunSettings> resolve_run(const Json& written, const std::string& where, std::vector<std::string>& notes)
{
    RunSettings run;
    const auto optional_int
        = [](const Json& json) { return json.is_null() ? std::optional<int>() : std::optional<int>(json.get<int>()); };
    run.steps = optional_int(member(written, "steps"));
    if (const Json& tokens = member(written, "tokens"); !tokens.is_null())
        run.tokens = tokens.get<double>();
    if (run.steps && run.tokens)
        notes.emplace_back("run.steps decides how long to train; run.tokens is not used");
    if (!run.steps && !run.tokens)
        run.steps = kDefaultSteps;
    FOURFOLD_TRY(run.data, read_data(member(written, "data"), where, "run.data"));
    run.seed = member_or(written, "seed", run.seed);
    run.lr = member_or(written, "lr", run.lr);
    run.min_lr = member_or(written, "min_lr", run.min_lr);
    if (const Json& schedule = member(written, "lr_schedule"); !schedule.is_null()) {
        FOURFOLD_TRY(
            run.lr_schedule, from_text<LrSchedule>(schedule.get<std::string>(), at_field(where, "run.lr_schedule")));
    }
    run.warmup_steps = member_or(written, "warmup_steps", run.warmup_steps);
    if (const Json& betas = member(written, "betas"); !betas.is_null()) {
        run.beta1 = betas[0].get<double>();
        run.beta2 = betas[1].get<double>();
    }
    run.eps = member_or(written, "eps", run.eps);
    run.weight_decay = member_or(written, "weight_decay", run.weight_decay);
    run.clip_norm = member_or(written, "clip_norm", run.clip_norm);

    const Json& eval = member(written, "eval");
    run.eval.every = member_or(eval, "every", run.eval.every);
    run.eval.batches = member_or(eval, "batches", run.eval.batches);
    FOURFOLD_TRY(run.eval.data, read_data(member(eval, "data"), where, "run.eval.data"));
    if (run.eval.every > 0 && run.eval.data.empty())
        notes.emplace_back("run.eval.data is empty: nothing is evaluated");

    const Json& checkpoint = member(written, "checkpoint");
    run.checkpoint.every = member_or(checkpoint, "every", run.checkpoint.every);
    run.checkpoint.keep = member_or(checkpoint, "keep", run.checkpoint.keep);
    run.checkpoint.path = member_or(checkpoint, "path", run.checkpoint.path);
    run.checkpoint.load = member_or(checkpoint, "load", run.checkpoint.load);
    run.checkpoint.from_last_good = member_or(checkpoint, "from_last_good", run.checkpoint.from_last_good);

    run.log_every = member_or(written, "log_every", run.log_every);
    run.read_at = optional_int(member(written, "read_at"));
    run.deterministic = member_or(written, "deterministic", run.deterministic);
    if (const Json& environment = member(written, "environment"); !environment.is_null()) {
        for (const auto& [name, value] : environment.items())
            run.environment[name] = value.get<std::string>();
    }
    return run;
}

} // namespace fourfold
