// SPDX-License-Identifier: GPL-3.0-or-later
// The full matrix: every case of the tables, every mesh shape up to 16 ranks, and rows that cover every combination of
// three settings, and plans drawn from the planner's search, each in fp64 against one rank. Writes a Markdown table to
// $FOURFOLD_PARITY_REPORT (default: parity-report.md in the working folder):
//   FOURFOLD_PARITY_REPORT=tests/parity/report.md ctest --preset long -R trainer_matrix
#include "tests/parity/compare.h"
#include "tests/parity/matrix.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace fourfold::testing {
namespace {

std::string scientific(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, value == 0 ? "0" : "%.1e", value);
    return text;
}

std::string words(const std::vector<std::string>& assignments)
{
    std::string text;
    for (const std::string& assignment : assignments)
        text += (text.empty() ? "`" : "` `") + assignment;
    return text.empty() ? "" : text + "`";
}

TEST(Matrix, EqualsOneRankInFp64)
{
    const char* wanted = std::getenv("FOURFOLD_PARITY_REPORT");
    const std::string file = wanted ? wanted : "parity-report.md";
    std::ofstream report(file);
    ASSERT_TRUE(report) << "cannot write " << file;
    report
        << "# Parity with one rank\n"
           "Written by `FOURFOLD_PARITY_REPORT=tests/parity/report.md ctest --preset long -R trainer_matrix`: real "
           "processes over Gloo, fp64, ten steps of a\n"
           "tiny model. Differences are relative: of the losses to the one-rank loss, of gradients and final weights "
           "to the largest element of the one-rank\n"
           "tensor, worst over all ranks, tensors and steps (gradients: of the first step). Bounds: loss 1e-12, "
           "gradients 1e-10, weights 1e-9.\n\n"
           "| case | ranks | loss | held-out loss | gradient norm | gradients | weights | seconds | equal |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
    std::vector<std::pair<std::string, std::vector<Case>>> parts{{"table", all_cases()}, {"shape", mesh_shapes()},
        {"triple", covering_array(3, 16)}, {"drawn", drawn_cases(40, 1, 16)}};
    std::string details;
    int rows = 0, failures = 0;
    for (const auto& [part, cases] : parts)
        for (const Case& c : cases) {
            const auto begin = std::chrono::steady_clock::now();
            const auto worst = compare_with_one_rank(c, {"--fp64"}, {"--fp64"});
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const bool equal = worst.problem.empty() && worst.loss < 1e-12 && worst.eval_loss < 1e-12
                && worst.grad_norm < 1e-10 && worst.gradient < 1e-10 && worst.weight < 1e-9;
            EXPECT_TRUE(equal) << c.name << ": " << worst.problem << " " << worst.worst_tensor << " " << worst.gradient;
            ++rows;
            failures += equal ? 0 : 1;
            report << "| " << part << ": " << c.name << " | " << worst.mesh.gpus << " | " << scientific(worst.loss)
                   << " | " << scientific(worst.eval_loss) << " | " << scientific(worst.grad_norm) << " | "
                   << scientific(worst.gradient) << " | " << scientific(worst.weight) << " | "
                   << std::round(seconds * 10) / 10 << " | " << (equal ? "yes" : "**no**") << " |\n"
                   << std::flush;
            details += "| " + part + ": " + c.name + " | " + words(c.mesh) + " | " + words(c.model) + " |\n";
        }
    report << "\n"
           << rows << " cases, " << failures << " not equal.\n\n"
           << "## What each case sets\n| case | mesh | mesh and one rank |\n| --- | --- | --- |\n"
           << details;
}

// Fifty optimizer steps stay together.
TEST(Curves, OfFiftyStepsStayTogether)
{
    const Case c{"curve",
        {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "layout.virtual_stages=2",
            "training.schedule=\"interleaved\"", "training.sharding=\"optimizer\""},
        {"model.num_hidden_layers=4", "run.steps=50"}};
    const auto exact = compare_with_one_rank(c, {"--fp64"}, {"--fp64"});
    ASSERT_EQ(exact.problem, "");
    EXPECT_LT(exact.loss, 1e-8);
    EXPECT_LT(exact.learned, 0.9);
    const auto single = compare_with_one_rank(c, {}, {});
    ASSERT_EQ(single.problem, "");
    EXPECT_LT(single.loss, 1e-4);
}

} // namespace
} // namespace fourfold::testing
