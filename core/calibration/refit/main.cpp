// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold-refit`: fits the shipped stacks to the published tables again, after the model changed. For developers; see
// README.md of this folder.
#include "core/base/paths.h"
#include "core/base/seconds.h"
#include "core/calibration/refit/ablation.h"
#include "core/calibration/refit/few_rows.h"
#include "core/calibration/refit/folds.h"
#include "core/calibration/refit/preset_file.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>

namespace fourfold {
namespace {

struct Options {
    std::vector<std::string> sets;
    bool folds = false, write = false, ablation = false, few = false, verbose = false, keep = false;
    std::string presets, extra, report;
    int threads = 0;
    FitOptions fit; // noise
};

void print_constants(const FitResult& fit)
{
    for (const ConstantEstimate& c : fit.constants) {
        std::printf("    %-34s %-22s prior %-10.4g -> %-10.4g width %.3f -> %.3f%s%s\n", c.name.c_str(),
            c.gpu.empty() ? (c.quantity == Quantity::memory ? "(memory)" : "(all)") : c.gpu.c_str(), c.prior, c.value,
            c.prior_width, c.posterior_width, c.at_bound ? " at its bound" : "",
            c.determined() ? "" : " not determined");
    }
}

// The fit to all rows, its left-out folds, and what is asked for beside.
Expected<void> refit(const std::string& id, const Options& options, const Presets& presets)
{
    const auto started = std::chrono::steady_clock::now();
    const auto seconds = [&] { return seconds_since(started); };
    FOURFOLD_TRY(const Corpus corpus, read_corpus(id, options.extra, presets));
    FOURFOLD_TRY(const Stack base, presets.stack(corpus.stack));
    const FitSet* set = nullptr;
    for (const FitSet& candidate : base.fit) {
        if (candidate.name == id)
            set = &candidate;
    }
    if (set == nullptr)
        return Problem{ProblemCode::bad_input, "the preset has no fit set " + id, "", "stack " + corpus.stack};
    FitOptions fit_options = options.fit;
    fit_options.scope = FitScope::stack;
    fit_options.threads = options.threads;
    std::printf("%s: %zu rows, %zu constants of time\n", id.c_str(), corpus.rows.size(), set->time_constants());
    std::printf("  as it is:   %s\n", to_text(score_of(corpus, predict_all(corpus, base, options.threads))).c_str());
    Stack full = base;
    if (!options.keep) {
        FOURFOLD_TRY(const FitResult fit, fit_stack(base, *set, corpus.rows, fit_options));
        full = fit.stack;
        std::printf(
            "  all rows:   %s\n", to_text(score_of(corpus, predict_all(corpus, full, options.threads))).c_str());
        std::printf("  %d iterations, %.1f s%s\n", fit.iterations, fit.milliseconds / 1000,
            fit.converged ? "" : ", not converged");
        if (options.verbose)
            print_constants(fit);
        if (options.write)
            FOURFOLD_CHECK(write_constants(options.presets, base, full));
    }
    std::fflush(stdout);
    if (options.folds) {
        for (const RowSplit split : corpus.splits) {
            FOURFOLD_TRY(const LeftOut left_out, fit_left_out(corpus, *set, full, split, fit_options));
            std::printf("  %s left out: %s (%.1f s)\n", std::string(name(split)).c_str(),
                to_text(score_of(corpus, left_out.predictions)).c_str(), seconds());
            std::fflush(stdout);
            for (const FoldSet& folds : left_out.folds) {
                if (options.write)
                    FOURFOLD_CHECK(write_fold_set(folds, std::filesystem::path(options.presets) / "folds"));
            }
        }
    }
    if (options.ablation)
        FOURFOLD_CHECK(ablate(corpus, *set, full, fit_options, options.report));
    if (options.few)
        FOURFOLD_CHECK(fit_few_rows(corpus, presets, options.threads, options.report));
    return {};
}

int run(int argc, char** argv)
{
    CLI::App app("Fits the shipped stacks to the published tables again.");
    Options options;
    options.fit.time_noise = 0.02; // published rows repeat within 2 %
    app.add_option("SET", options.sets, "4d, bloom, torchtitan, vtrain, playbook; all when left out");
    app.add_flag("--folds", options.folds, "fit every split of the table with each group left out");
    app.add_flag("--write", options.write, "write constants and folds into the presets folder");
    app.add_flag("--keep", options.keep, "take the constants as they are, fit only what is asked for beside");
    app.add_flag("--ablation", options.ablation, "remove one term at a time, fit the rest again");
    app.add_flag(
        "--few", options.few, "calibrate the generic stack from one row of each table and from ten of each set");
    app.add_flag("--verbose", options.verbose, "print every constant");
    app.add_option("--presets", options.presets, "presets folder to write into");
    app.add_option("--tables", options.extra, "folder of the tables that do not ship");
    app.add_option("--report", options.report, "Markdown file to append tables to");
    app.add_option("--time-noise", options.fit.time_noise, "of ln(predicted / measured) step time");
    app.add_option("--memory-noise", options.fit.memory_noise, "the same of memory");
    app.add_option("--threads", options.threads, "0 = all cores");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error);
    }
    if (options.write && options.presets.empty()) {
        std::cerr << "fourfold-refit: --write needs --presets FOLDER\n";
        return 2;
    }
    const Presets presets;
    if (options.sets.empty())
        options.sets = corpus_ids();
    int status = 0;
    for (const std::string& id : options.sets) {
        if (const auto done = refit(id, options, presets); !done) {
            std::cerr << "fourfold-refit: " << done.error().line() << "\n";
            status = done.error().exit_status();
        }
    }
    return status;
}

} // namespace
} // namespace fourfold

int main(int argc, char** argv)
{
    return fourfold::run(argc, argv);
}
