// SPDX-License-Identifier: GPL-3.0-or-later
// The full matrix: every case of the tables, every mesh shape up to 16 ranks, plans drawn from the planner's search,
// and rows that cover every combination of three settings, each in fp64 against one rank. With FOURFOLD_PARITY_REPORT
// it writes a Markdown table, a section a test:
//   FOURFOLD_PARITY_REPORT=tests/parity/report.md build/release/tests/trainer_matrix_long_test
// and with FOURFOLD_PARITY_GO_ON=1 besides, only what that file does not have yet: a run that was stopped goes on.
// With FOURFOLD_PARITY_GPU=1 all ranks keep their tensors on the first GPU and send them over Gloo; =nccl: over NCCL.
#include "tests/parity/compare.h"
#include "tests/parity/matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace fourfold::testing {
namespace {

std::string_view wanted_gpu()
{
    const char* const wanted = std::getenv("FOURFOLD_PARITY_GPU");
    return wanted ? wanted : "";
}
bool on_gpu()
{
    return wanted_gpu() == "1" || wanted_gpu() == "nccl";
}

std::vector<std::string> flags(std::vector<std::string> list)
{
    if (on_gpu())
        list.emplace_back("--gpu");
    if (wanted_gpu() == "nccl")
        list.emplace_back("--nccl");
    return list;
}

std::string scientific(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, value == 0 ? "0" : "%.1e", value);
    return text;
}

constexpr char kHeading[] = R"(# Parity with one rank
Written by `FOURFOLD_PARITY_REPORT=tests/parity/report.md build/release/tests/trainer_matrix_long_test`: real processes over
Gloo, fp64, ten steps of a tiny model. Differences are relative: of the losses to the one-rank loss, of gradients and final
weights to the largest element of the one-rank tensor; the worst over all ranks, tensors and steps (gradients: of the first
step). Bounds: losses 1e-12, gradients and their norm 1e-10, weights 1e-9.
)";

constexpr std::string_view kColumns
    = "| case | ranks | loss | held-out loss | gradient norm | gradients | weights | seconds | equal | mesh | mesh and "
      "one rank |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |\n";

std::string end_of_row(const Case& c, bool equal)
{
    return std::string(equal ? " | yes | " : " | **no** | ") + words(c.mesh) + " | " + words(c.model) + " |";
}

// The file of the report, which is whole after every case: a run that was stopped may go on where it was.
class Report {
public:
    Report()
        : file_(std::getenv("FOURFOLD_PARITY_REPORT"))
    {
        if (file_ == nullptr || std::getenv("FOURFOLD_PARITY_GO_ON") == nullptr)
            return;
        std::ifstream before(file_);
        for (std::string line; std::getline(before, line);) {
            if (line.starts_with("## "))
                sections_.push_back({line.substr(3), {}, ""});
            else if (!sections_.empty() && line.ends_with(" |") && !line.starts_with("| case |")
                && !line.starts_with("| --- |"))
                sections_.back().rows.push_back(line);
        }
    }
    // What the report has of a case that was found equal; else empty.
    [[nodiscard]] std::string known(const std::string& title, const Case& c) const
    {
        for (const Section& section : sections_)
            for (const std::string& row : section.rows)
                if (section.title == title && row.starts_with("| " + c.name + " | ")
                    && row.ends_with(end_of_row(c, true)))
                    return row;
        return "";
    }
    // A section of it as far as it has come.
    void set(const std::string& title, std::vector<std::string> rows, std::string summary)
    {
        auto section = std::ranges::find(sections_, title, &Section::title);
        if (section == sections_.end())
            section = sections_.insert(section, {title, {}, ""});
        section->rows = std::move(rows);
        section->summary = std::move(summary);
        if (file_ == nullptr)
            return;
        std::string text = kHeading + std::string(on_gpu() ? "All tensors on one GPU.\n" : "");
        for (const Section& each : sections_) {
            text += "\n## " + each.title + '\n' + std::string(kColumns);
            for (const std::string& row : each.rows)
                text += row + '\n';
            text += '\n' + each.summary + '\n';
        }
        ASSERT_TRUE(write_file_atomically(file_, text)) << "cannot write " << file_;
    }

private:
    struct Section {
        std::string title;
        std::vector<std::string> rows;
        std::string summary;
    };
    const char* file_;
    std::vector<Section> sections_;
};

// Compares the cases that the report does not know to be equal, and writes their section of it.
void compare_and_report(const std::string& title, const std::vector<Case>& cases)
{
    static Report report;
    std::vector<std::string> rows;
    for (const Case& c : cases)
        rows.push_back(report.known(title, c));
    std::size_t failures = 0, left = std::size_t(std::ranges::count(rows, ""));
    const auto write = [&] {
        auto made = rows;
        std::erase(made, "");
        report.set(title, made,
            std::to_string(cases.size()) + " cases, " + std::to_string(failures) + " not equal"
                + (left > 0 ? ", " + std::to_string(left) + " not compared yet." : "."));
    };
    write();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!rows[i].empty())
            continue;
        const Case& c = cases[i];
        const auto begin = std::chrono::steady_clock::now();
        const auto worst = compare_with_one_rank(c, flags({"--fp64"}), flags({"--fp64"}));
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const bool equal = worst.problem.empty() && worst.loss < 1e-12 && worst.eval_loss < 1e-12
            && worst.grad_norm < 1e-10 && worst.gradient < 1e-10 && worst.weight < 1e-9;
        EXPECT_TRUE(equal) << c.name << ": " << worst.problem << " " << worst.worst_tensor << " " << worst.gradient;
        failures += equal ? 0 : 1;
        --left;
        rows[i] = "| " + c.name + " | " + std::to_string(worst.mesh.gpus) + " | " + scientific(worst.loss) + " | "
            + scientific(worst.eval_loss) + " | " + scientific(worst.grad_norm) + " | " + scientific(worst.gradient)
            + " | " + scientific(worst.weight) + " | " + std::to_string(std::lround(seconds)) + end_of_row(c, equal);
        write();
    }
}

TEST(Matrix, TablesInFp64)
{
    compare_and_report("The tables of cases", all_cases());
}
TEST(Matrix, PrecisionsInFp64)
{
    auto cases = precision_cases();
    const auto more = more_precision_cases();
    cases.insert(cases.end(), more.begin(), more.end());
    compare_and_report("fp16 and fp8: their scales and rounded values in fp64", cases);
}
TEST(Matrix, RecomputationInFp64)
{
    compare_and_report("Recomputation by part and by operation", more_pipeline_cases());
}
TEST(Matrix, ShardedPipelinesInFp64)
{
    compare_and_report("FSDP in pipelines, for each micro-batch", more_data_cases());
}
TEST(Matrix, FourDimensionsInFp64)
{
    compare_and_report("Experts, fp8 and asynchronous TP where all four dimensions are cut", sixteen_rank_cases());
}
TEST(Matrix, ShapesInFp64)
{
    compare_and_report("Every dimension at 2 and 4, every pair, all four", mesh_shapes());
}
TEST(Matrix, DrawnPlansInFp64)
{
    compare_and_report("Plans drawn from the planner's search", drawn_cases(24, 1, 16));
}
TEST(Matrix, TriplesInFp64)
{
    compare_and_report("Every combination of three settings", covering_array(3, 16));
}

// Fifty optimizer steps stay together.
TEST(Curves, OfFiftyStepsStayTogether)
{
    const Case c{"curve",
        {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "layout.virtual_stages=2",
            "training.schedule=\"interleaved\"", "training.sharding=\"optimizer\""},
        {"model.num_hidden_layers=4", "run.steps=50"}};
    const auto exact = compare_with_one_rank(c, flags({"--fp64"}), flags({"--fp64"}));
    ASSERT_EQ(exact.problem, "");
    EXPECT_LT(exact.loss, 1e-8);
    EXPECT_LT(exact.learned, 0.9);
    const auto single = compare_with_one_rank(c, flags({}), flags({}));
    ASSERT_EQ(single.problem, "");
    EXPECT_LT(single.loss, 1e-4);
}

} // namespace
} // namespace fourfold::testing
