// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_notices.h"

#include "app/view/text.h"

#include <utility>

namespace fourfold::view {

namespace {
constexpr double kStillNews = 120; // seconds
constexpr std::chrono::minutes kBetweenAlerts{1};
} // namespace

RunNotice run_end_notice(const LiveRun& run)
{
    RunNotice notice{std::string("Run ended: ") + state_label(run.state()), run.title(), run.state() != RunState::ok};
    if (run.measured_throughput())
        notice.text += ": " + throughput_text(*run.measured_throughput()) + " tokens/s per GPU";
    if (notice.urgent && !run.state_text().empty())
        notice.text += "\n" + run.state_text();
    return notice;
}

std::optional<RunNotice> AlertNotices::take(
    const RunAlert& alert, const std::string& title_of_run, Clock::time_point now)
{
    if (alert.age_s >= kStillNews)
        return {};
    if (!alert.stops && told_ && now - *told_ < kBetweenAlerts) {
        ++untold_;
        return {};
    }
    told_ = now;
    RunNotice notice{"Step " + grouped(alert.step) + ": " + alert.text, title_of_run, alert.stops};
    if (const int more = std::exchange(untold_, 0); more > 0)
        notice.text += "\n" + grouped(more) + " more since the last";
    return notice;
}

} // namespace fourfold::view
