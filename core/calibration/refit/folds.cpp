// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/refit/folds.h"
#include "core/base/parallel.h"
#include "core/cost/context.h"
#include "core/predict/fit.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <set>

namespace fourfold {
namespace {

std::string today()
{
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    char text[16];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &day)};
}

Fold fold_of(const Stack& fitted, const FitSet& set, const std::vector<std::string>& gpus)
{
    Fold fold;
    const auto add_own = [&](const std::string& name) {
        for (const std::string& gpu : gpus)
            fold.gpu_constants[gpu][name] = fitted.constant(name, gpu, 0);
    };
    for (const auto* constants : {&set.shared, &set.memory}) {
        for (const FittedConstant& constant : *constants) {
            if (constant.stays)
                add_own(constant.name);
            else
                fold.constants[constant.name] = fitted.constants.at(constant.name);
        }
    }
    for (const FittedConstant& constant : set.per_gpu)
        add_own(constant.name);
    return fold;
}

// As if nothing had been fitted yet: the rows left out must not show in where a fit begins.
Stack at_priors(Stack stack, const FitSet& set)
{
    for (const auto* constants : {&set.shared, &set.per_gpu, &set.memory}) {
        for (const FittedConstant& constant : *constants) {
            stack.constants[constant.name] = constant.prior;
            for (auto& [gpu, own] : stack.gpu_constants)
                own.erase(constant.name);
        }
    }
    return stack;
}

} // namespace

Expected<LeftOut> fit_left_out(
    const Corpus& corpus, const FitSet& set, const Stack& full, RowSplit split, const FitOptions& options)
{
    LeftOut result;
    result.predictions.resize(corpus.rows.size());
    FoldSet folds;
    folds.stack = full.id;
    folds.split = split;
    folds.date = today();
    folds.fitted
        = "every constant of the fit set " + set.name + " from its prior, by fourfold-refit " + corpus.id + " --folds";
    std::vector<std::string> keys;
    std::set<std::string> all;
    for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
        keys.push_back(group_key(corpus.measured(i), split));
        all.insert(keys.back());
    }
    const Stack cold = at_priors(full, set);
    for (const std::string& key : all) {
        std::vector<FitRow> rows;
        for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
            if (keys[i] != key)
                rows.push_back(corpus.rows[i]);
        }
        FOURFOLD_TRY(const FitResult fit, fit_stack(cold, set, rows, options));
        const bool by_generation = split == RowSplit::generation;
        std::vector<std::string> gpus = set.gpus;
        std::erase_if(gpus, [&](const std::string& gpu) { // they have no constants then: without_generation()
            return by_generation
                && std::ranges::none_of(rows, [&](const FitRow& row) { return row.plan.cluster.gpu.id == gpu; });
        });
        Fold fold = fold_of(fit.stack, set, gpus);
        fold.held_out = {key};
        const Stack left = with_fold(full, fold), without = by_generation ? without_generation(left, key) : left;
        folds.folds.push_back(std::move(fold));
        std::vector<std::size_t> held;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (keys[i] == key)
                held.push_back(i);
        }
        for_each_parallel(held.size(), options.threads,
            [&](std::size_t i) { result.predictions[held[i]] = predict_row(without, corpus.rows[held[i]]); });
    }
    for (const MeasuredTable& table : corpus.tables) {
        folds.table = table.name;
        folds.table_sha256 = table.sha256;
        result.folds.push_back(folds);
    }
    return result;
}

std::vector<RowPrediction> predict_all(const Corpus& corpus, const Stack& stack, int threads)
{
    std::vector<RowPrediction> predictions(corpus.rows.size());
    for_each_parallel(
        predictions.size(), threads, [&](std::size_t i) { predictions[i] = predict_row(stack, corpus.rows[i]); });
    return predictions;
}

Score score_of(const Corpus& corpus, const std::vector<RowPrediction>& predictions)
{
    Score score;
    std::vector<double> errors;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
        const MeasuredRow& row = corpus.measured(i);
        const RowPrediction& predicted = predictions[i];
        if (row.plan.layout.tp <= 8) {
            const double capacity = row.plan.cluster.gpu.memory_gib;
            const bool fits
                = predicted.memory_device_gib && judge_fit(*predicted.memory_device_gib, capacity) != Fit::no;
            if (!fits && row.recompute_untold)
                continue;
            ++score.cells;
            score.right += fits == row.ran() ? 1 : 0;
            score.false_alarms += !fits && row.ran() ? 1 : 0;
            score.missed += fits && !row.ran() ? 1 : 0;
        }
        if (!row.ran() || !is_core(row))
            continue;
        if (row.step_time_s && predicted.step_time_s) {
            const double off = *row.step_time_s / *predicted.step_time_s - 1;
            errors.push_back(std::abs(off));
            score.mape += std::abs(off);
            score.expert_rows += row.plan.model.experts ? 1 : 0;
            (row.plan.model.experts ? score.expert_mape : score.dense_mape) += std::abs(off);
            score.bias += off;
            if (std::abs(off) > score.worst) {
                score.worst = std::abs(off);
                score.worst_row = row.row;
            }
        }
        if (row.memory_gib && predicted.memory_gib) {
            ++score.memory_rows;
            score.memory_gib += std::abs(*predicted.memory_gib - *row.memory_gib);
            score.memory_bias_gib += *predicted.memory_gib - *row.memory_gib;
            score.memory_mape += std::abs(*predicted.memory_gib / *row.memory_gib - 1);
        }
    }
    score.time_rows = int(errors.size());
    score.mape /= std::max<std::size_t>(1, errors.size());
    score.expert_mape /= std::max(1, score.expert_rows);
    score.dense_mape /= std::max(1, score.time_rows - score.expert_rows);
    score.bias /= std::max<std::size_t>(1, errors.size());
    if (!errors.empty()) {
        std::nth_element(errors.begin(), errors.begin() + std::ptrdiff_t(errors.size() / 2), errors.end());
        score.median = errors[errors.size() / 2];
    }
    score.memory_gib /= std::max(1, score.memory_rows);
    score.memory_bias_gib /= std::max(1, score.memory_rows);
    score.memory_mape /= std::max(1, score.memory_rows);
    return score;
}

std::string to_text(const Score& score)
{
    std::string text = text_of("time %d rows: %.2f %% (median %.2f, bias %+.2f, worst %.1f in %s)", score.time_rows,
        100 * score.mape, 100 * score.median, 100 * score.bias, 100 * score.worst, score.worst_row.c_str());
    if (score.expert_rows > 0)
        text += text_of("; dense %d rows %.2f %%, experts %d rows %.2f %%", score.time_rows - score.expert_rows,
            100 * score.dense_mape, score.expert_rows, 100 * score.expert_mape);
    if (score.memory_rows > 0)
        text += text_of("; memory %d rows: %.2f GiB, %.2f %% (bias %+.2f GiB)", score.memory_rows, score.memory_gib,
            100 * score.memory_mape, score.memory_bias_gib);
    return text
        + text_of("; fits or not: %d of %d right, %d false alarms, %d missed", score.right, score.cells,
            score.false_alarms, score.missed);
}

} // namespace fourfold
