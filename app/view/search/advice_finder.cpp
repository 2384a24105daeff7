// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/advice_finder.h"

#include "core/report/views/advice_table.h"

namespace fourfold::view {

bool AdviceFinder::follow(const std::shared_ptr<const Prediction>& now, bool looks)
{
    if (now == about_ && (!looks || is_looking() || report_))
        return false;
    about_ = now;
    work_.cancel();
    report_.reset();
    all_.clear();
    due_.reset();
    if (now && looks)
        due_ = std::chrono::steady_clock::now() + kStill;
    return true;
}

int AdviceFinder::next_tick() const
{
    if (!due_)
        return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*due_ - std::chrono::steady_clock::now());
    return std::max(0, static_cast<int>(left.count()) + 1);
}

bool AdviceFinder::tick()
{
    if (due_ && std::chrono::steady_clock::now() >= *due_) {
        due_.reset();
        AdviceRequest request;
        request.plan = about_->plan;
        request.now = about_;
        request.threads = 1; // the other cores are for the answer to the next edit
        work_.start([this, request = std::move(request)](const std::stop_token& stop) -> Background::Done {
            AdviceReport report = advise(request, stop);
            return [this, report = std::move(report)]() mutable {
                all_ = report.to_fit;
                all_.insert(all_.end(), report.faster.begin(), report.faster.end());
                report_ = std::move(report);
            };
        });
    }
    return work_.deliver();
}

Table AdviceFinder::table() const
{
    return advice_rows(all_, report_ ? report_->to_fit.size() : 0);
}

std::string advice_words(const Advice& advice)
{
    std::string line = advice_line(advice);
    for (std::size_t at = line.find("->"); at != std::string::npos; at = line.find("->", at + 1))
        line.replace(at, 2, "\u2192");
    return line;
}

Table advice_rows(const std::vector<Advice>& all, std::size_t to_fit)
{
    Table table = advice_table(all);
    table.columns.insert(table.columns.begin(), {"helps", "makes it"});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        std::vector<Cell> row;
        row.reserve(table.rows[i].size() + 1);
        row.emplace_back(std::string(i < to_fit ? "fit" : "faster"));
        row.insert(row.end(), table.rows[i].begin(), table.rows[i].end());
        table.rows[i] = std::move(row);
    }
    return table;
}

} // namespace fourfold::view
