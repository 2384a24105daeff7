// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/data_files.h"

namespace fourfold {

Expected<void> for_each_file(
    ResolvedPlan& plan, const std::function<Expected<void>(const std::string&, std::string&)>& change)
{
    for (std::size_t i = 0; i < plan.run.data.size(); ++i)
        FOURFOLD_CHECK(change("run.data." + std::to_string(i) + ".path", plan.run.data[i].path));
    for (std::size_t i = 0; i < plan.run.eval.data.size(); ++i)
        FOURFOLD_CHECK(change("run.eval.data." + std::to_string(i) + ".path", plan.run.eval.data[i].path));
    if (!plan.training.schedule_csv.empty())
        FOURFOLD_CHECK(change("training.schedule", plan.training.schedule_csv));
    return {};
}

} // namespace fourfold
