// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/refit/few_rows.h"
#include "core/calibration/refit/folds.h"
#include "core/calibration/refit/report_file.h"
#include "core/cost/context.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

namespace fourfold {
namespace {

constexpr std::size_t kTrials = 5; // different rows of a table, different draws of a set
constexpr std::size_t kDrawn = 10;

// Rows whose step time counts and that the model can lay out.
std::map<std::string, std::vector<std::size_t>> tables_of(const Corpus& corpus, const Stack& generic)
{
    std::map<std::string, std::vector<std::size_t>> tables;
    for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
        const MeasuredRow& row = corpus.measured(i);
        const bool scored = row.ran() && row.step_time_s && is_core(row);
        if (scored && predict_row(generic, corpus.rows[i]).step_time_s)
            tables[row.table].push_back(i);
    }
    return tables;
}

struct Trial {
    double before = 0, after = 0, memory_before = 0, memory_after = 0;
    int rows = 0, memory_rows = 0;
};

Expected<Trial> calibrate_on(const Corpus& corpus, const Stack& generic, const std::vector<std::size_t>& on,
    const std::vector<std::size_t>& all, int threads)
{
    std::vector<FitRow> measured, rest;
    for (std::size_t i : on)
        measured.push_back(corpus.rows[i]);
    for (std::size_t i : all) {
        if (std::find(on.begin(), on.end(), i) == on.end())
            rest.push_back(corpus.rows[i]);
    }
    FitOptions options;
    options.threads = threads;
    const FitSet* set = fit_set_for(generic.fit, measured.front().plan.cluster.gpu.id);
    if (set == nullptr)
        return Problem{ProblemCode::bad_input, "has no fit set", "", "stack generic"};
    FOURFOLD_TRY(const FitResult fit, fit_stack(generic, *set, measured, options));
    const FitError before = fit_error(generic, rest), after = fit_error(fit.stack, rest);
    return Trial{before.time, after.time, before.memory, after.memory, before.time_rows, before.memory_rows};
}

void add(Trial& sum, const Trial& one)
{
    sum.before += one.before * one.rows;
    sum.after += one.after * one.rows;
    sum.memory_before += one.memory_before * one.memory_rows;
    sum.memory_after += one.memory_after * one.memory_rows;
    sum.rows += one.rows;
    sum.memory_rows += one.memory_rows;
}

std::string line_of(const std::string& what, const Trial& sum)
{
    const double rows = std::max(1, sum.rows), memory_rows = std::max(1, sum.memory_rows);
    std::string line
        = text_of("| %s | %.1f %% | %.1f %% |", what.c_str(), 100 * sum.before / rows, 100 * sum.after / rows);
    if (sum.memory_rows > 0)
        line += text_of(
            " %.1f %% | %.1f %% |", 100 * sum.memory_before / memory_rows, 100 * sum.memory_after / memory_rows);
    else
        line += " | |";
    return line + "\n";
}

} // namespace

Expected<void> fit_few_rows(
    const Corpus& corpus, const Presets& presets, int threads, const std::filesystem::path& report)
{
    FOURFOLD_TRY(const Stack generic, presets.stack("generic"));
    std::string table = text_of("\n### %s: `generic` calibrated on few rows, the others scored\n\n", corpus.id.c_str());
    table += "| calibrated on | time before | after | memory before | after |\n| --- | --- | --- | --- | --- |\n";
    std::vector<std::size_t> every;
    Trial single;
    std::string lines;
    for (const auto& [name, rows] : tables_of(corpus, generic)) {
        every.insert(every.end(), rows.begin(), rows.end());
        if (rows.size() < 2)
            continue;
        Trial sum;
        const std::size_t trials = std::min(kTrials, rows.size());
        for (std::size_t t = 0; t < trials; ++t) {
            FOURFOLD_TRY(const Trial one,
                calibrate_on(corpus, generic, {rows[(2 * t + 1) * rows.size() / (2 * trials)]}, rows, threads));
            add(sum, one);
        }
        lines += line_of("one row of " + name, sum);
        add(single,
            {sum.before / sum.rows, sum.after / sum.rows, sum.memory_before / std::max(1, sum.memory_rows),
                sum.memory_after / std::max(1, sum.memory_rows), 1, sum.memory_rows > 0 ? 1 : 0});
    }
    if (single.rows > 0)
        table += line_of("one row of a table, mean over tables", single) + lines;
    std::mt19937_64 draw(20261121); // the same rows every time
    Trial ten;
    for (std::size_t t = 0; t < kTrials && every.size() > kDrawn; ++t) {
        std::vector<std::size_t> left = every, on;
        for (std::size_t i = 0; i < kDrawn; ++i) {
            const std::size_t at = draw() % left.size();
            on.push_back(left[at]);
            left.erase(left.begin() + std::ptrdiff_t(at));
        }
        FOURFOLD_TRY(const Trial one, calibrate_on(corpus, generic, on, every, threads));
        add(ten, one);
    }
    if (ten.rows > 0)
        table += line_of("ten random rows of the set", ten);
    std::printf("%s", table.c_str());
    return append_report(report, table);
}

} // namespace fourfold
