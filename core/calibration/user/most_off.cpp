// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/most_off.h"

#include "core/history/annotations.h"
#include "core/history/store.h"
#include "core/predict/term_off.h"

namespace fourfold {

Expected<int> compare_traces(const std::filesystem::path& history, const std::stop_token& stop)
{
    FOURFOLD_TRY(HistoryStore store, HistoryStore::open(history));
    FOURFOLD_TRY(const std::vector<std::string> due, most_off_due(store));
    int compared = 0;
    for (const std::string& id : due) {
        if (stop.stop_requested())
            break;
        const Expected<RunDetail> run = store.show(id);
        if (!run)
            continue; // purged meanwhile
        std::optional<MostOff> most;
        if (const auto term = term_most_off(run->plan, run->other_events))
            most = MostOff{term->term, term->predicted_s, term->measured_s};
        FOURFOLD_CHECK(set_most_off(store, id, most));
        ++compared;
    }
    return compared;
}

} // namespace fourfold
