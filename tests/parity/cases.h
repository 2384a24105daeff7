// SPDX-License-Identifier: GPL-3.0-or-later
// The meshes and plans that are compared with one rank. One file of rows a dimension: a new row is a line there.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace fourfold::testing {

// Assignments as a cell of a table.
std::string words(const std::vector<std::string>& assignments);

// Changes to tiny_plan() as in --set ("layout.tp=2").
struct Case {
    std::string name; // letters, digits, underscores
    std::vector<std::string> mesh; // of the compared plan alone
    std::vector<std::string> model; // of the compared plan and of its one rank
};
inline void PrintTo(const Case& c, std::ostream* out)
{
    *out << c.name;
}

// A pipeline with one micro-batch for each sequence and a layer for each chunk.
Case pipeline_case(const std::string& name, const std::string& schedule, int pp, int chunks, int micro_batches);

std::vector<Case> tensor_cases(); // tp and what no other file claims
std::vector<Case> tensor_beside_cases(); // asynchronous, beside another micro-batch
std::vector<Case> data_cases(); // dp: DDP, ZeRO, FSDP, HSDP
std::vector<Case> context_cases(); // cp
std::vector<Case> attention_cases(); // what a layer's attention sees, of which families, by which kernel
std::vector<Case> pipeline_cases(); // pp and its schedules
std::vector<Case> training_cases(); // optimizers, precisions, batches
// Precisions of which one rank must take the same micro-batches: in fp64 with their scales and rounded values.
std::vector<Case> precision_cases();
// For the long tests alone.
std::vector<Case> more_precision_cases();
std::vector<Case> more_pipeline_cases();
std::vector<Case> more_data_cases(); // FSDP in pipelines, for each micro-batch
std::vector<Case> sixteen_rank_cases(); // tp, cp, pp and dp of two, with experts, fp8 and asynchronous TP
std::vector<Case> expert_cases(); // mixtures of experts: ep, etp
std::vector<Case> exchange_cases(); // of those, with the exchange of tokens beside another micro-batch
std::vector<Case> all_cases(); // of the tables above
// Of these as few, of few ranks, as have every setting that is in any of them.
std::vector<Case> covering_cases();
// Sizes without padding, which the planner does not count: what these send is what it lists.
std::vector<Case> unpadded_cases();

// A plan that is made wrong on purpose: the comparison has to notice.
struct Sabotage {
    std::string name;
    std::string fault; // --corrupt of parity-worker: GROUP.OPERATION
    std::vector<std::string> mesh, model;
};
inline void PrintTo(const Sabotage& s, std::ostream* out)
{
    *out << s.name;
}

std::vector<Sabotage> tensor_sabotages();
std::vector<Sabotage> data_sabotages();
std::vector<Sabotage> context_sabotages();
std::vector<Sabotage> attention_sabotages();
std::vector<Sabotage> pipeline_sabotages();
std::vector<Sabotage> expert_sabotages();
std::vector<Sabotage> precision_sabotages();
std::vector<Sabotage> training_sabotages();
std::vector<Sabotage> all_sabotages();

} // namespace fourfold::testing
