// SPDX-License-Identifier: GPL-3.0-or-later
// What fourfold-trainer does with a checkpoint instead of training: --export, --score, --generate.
#pragma once

#include <string>
#include <vector>

namespace fourfold::trainer {

inline constexpr char kToolUsage[]
    = "       fourfold-trainer --export CHECKPOINT --output FOLDER [--tokenizer FILE] [--dtype fp32|bf16]\n"
      "       fourfold-trainer --score FILE --model CHECKPOINT [--tokenizer FILE] [--seq-len N]\n"
      "       fourfold-trainer --generate PROMPT --model CHECKPOINT [--tokenizer FILE] [--tokens N]\n"
      "                        [--temperature T] [--top-k K] [--top-p P] [--seed S]\n";

// Whether one of the tools is named among the arguments.
bool is_tool(const std::vector<std::string>& arguments);
// Exit status: 0 done, 1 failed, 2 unusable input; one line on standard error says what.
int run_tool(const std::vector<std::string>& arguments);

} // namespace fourfold::trainer
