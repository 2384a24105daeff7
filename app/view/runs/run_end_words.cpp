// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_end_words.h"

#include "app/view/text.h"

namespace fourfold::view {

RunEndWords run_end_words(const LiveRun& run)
{
    RunEndWords words{std::string("Run ended: ") + state_label(run.state()), run.title(), run.state() != RunState::ok};
    if (run.measured_throughput())
        words.text += ": " + throughput_text(*run.measured_throughput()) + " tokens/s per GPU";
    if (words.urgent && !run.state_text().empty())
        words.text += "\n" + run.state_text();
    return words;
}

} // namespace fourfold::view
