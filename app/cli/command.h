// SPDX-License-Identifier: GPL-3.0-or-later
// What every subcommand shares: the parser, exit statuses and the two output streams.
#pragma once

#include "core/base/json.h"
#include "core/report/table/table.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace fourfold::cli {

// Exit statuses of the contract.
inline constexpr int kDone = 0, kFailed = 1, kUnusable = 2;

// The parser and what parsing chose to run.
struct Cli {
    CLI::App app;
    // The exit status; a Problem is told at the end, in one place.
    std::function<Expected<int>()> chosen;
    // What the program does without arguments, where a person sits at a terminal.
    std::function<Expected<int>()> alone;
};

// Each adds its subcommand; the work itself runs after parsing.
void add_predict(Cli& cli);
void add_search(Cli& cli);
void add_sweep(Cli& cli);
void add_table(Cli& cli);
void add_compare(Cli& cli);
void add_timeline(Cli& cli);
void add_profile(Cli& cli);
void add_find(Cli& cli);
void add_probe(Cli& cli);
void add_recipe(Cli& cli);
void add_recommend(Cli& cli);
void add_rehearse(Cli& cli);
void add_run(Cli& cli);
void add_attach(Cli& cli);
void add_stop(Cli& cli);
void add_queue(Cli& cli);
void add_gc(Cli& cli);
void add_history(Cli& cli);
void add_presets(Cli& cli);
void add_model(Cli& cli);
void add_libtorch(Cli& cli);
void add_pack(Cli& cli);
void add_validate(Cli& cli);
void add_calibrate(Cli& cli);
void add_guide(Cli& cli);
void add_completion(Cli& cli);
void add_tui(Cli& cli);

// "fourfold: where: message (hint)" on standard error; returns the problem's exit status.
int fail(const Problem& problem);
// "fourfold: warning: text", one line.
void warn(const std::string& text);
// Indented JSON on standard output. Text that is not UTF-8 is replaced, never an exception.
void print_json(const Json& json);
std::string compact(const Json& json);

// Takes a finite number above 0 (or from 0 on) up to `most`.
CLI::Validator number_up_to(double most, bool or_zero = false);

// `--format` and its short form `--json`.
struct FormatOptions {
    std::string name = "text";
    bool json = false;
    void add_to(CLI::App& command);
    [[nodiscard]] Expected<TableFormat> format() const;
};

} // namespace fourfold::cli
