// SPDX-License-Identifier: GPL-3.0-or-later
// Which stored runs are meant, in one text for the command line and the desktop: an expression over a run's figures
// ("abs(error) > 0.1 and gpus >= 8"), or words that are all in it ("405b torchtitan paper").
#pragma once

#include "core/base/expected.h"
#include "core/expression/fields.h"
#include "core/history/store.h"

#include <span>

namespace fourfold {

// The fields of a run that an expression may name. The values of a text field (model, state ...) are those of `runs`.
class RunFields {
public:
    explicit RunFields(std::span<const RunSummary> runs);
    [[nodiscard]] const FieldSet& set() const { return set_; }
    // By slot. Precondition: the run is one of those that the fields were made of.
    [[nodiscard]] std::vector<double> values(const RunSummary& run) const;

private:
    FieldSet set_;
};

// A text with a comparison is meant as an expression, anything else as words.
bool is_run_expression(const std::string& text);

// What words are looked for in, in lower case: names, layout, state, tags, note, date.
std::string words_of_run(const RunSummary& run);

// The runs that `filter` means, in their order; all for an empty one. The Problem names `where` and the character.
Expected<std::vector<RunSummary>> filtered_runs(
    std::vector<RunSummary> runs, const std::string& filter, const std::string& where);

} // namespace fourfold
