// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/search_service.h"

#include "core/calibration/user/evidence.h"
#include "core/predict/interval.h"
#include "core/predict/pipeline_advice.h"
#include "core/predict/shape_rules.h"

#include <mutex>
#include <optional>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kProgressMilliseconds = 200;
}

struct SearchService::Mailbox {
    std::mutex mutex;
    std::vector<ResultRow> rows;
    std::size_t taken = 0;
    double share = 0;
    SearchCounts counts;
    bool moved = false; // share or counts are new
    std::optional<SearchResult> result;
};

SearchService::SearchService(QObject* parent)
    : QObject(parent)
{
    m_timer.setInterval(kProgressMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &SearchService::drain);
}

SearchService::~SearchService()
{
    cancel();
}

void SearchService::start(SearchRequest request)
{
    Q_ASSERT(!isRunning());
    m_request = std::make_shared<const SearchRequest>(std::move(request));
    m_mailbox = std::make_shared<Mailbox>();
    m_thread = std::jthread([request = m_request, mailbox = m_mailbox](const std::stop_token& stop) {
        SearchObserver observer;
        ResolvedPlan plan = request->plan; // one for all rows: place() overwrites what differs
        JobEvidence evidence(request->plan);
        observer.found = [&](std::span<const FoundLayout> found) {
            std::vector<ResultRow> rows;
            rows.reserve(found.size());
            for (const FoundLayout& layout : found) {
                ResultRow row;
                row.found = layout;
                row.order = request->objective.maximize ? -layout.weighed : layout.weighed;
                place(layout.candidate, request->space, request->plan, plan);
                fill_layout(row.values, plan);
                fill_figures(row.values, plan, layout.figures, request->budget);
                row.evidence = evidence.of(plan, layout.figures.memory_device_gib);
                const double capacity = plan.cluster.gpu.memory_gib;
                const double share = capacity > 0 ? layout.figures.memory_device_gib / capacity : 0;
                row.warned = !regime_warnings(plan, share).empty() || !pipeline_advice(plan, 0).empty()
                    || !shape_warnings(plan).empty();
                rows.push_back(row);
            }
            const std::scoped_lock lock(mailbox->mutex);
            for (ResultRow& row : rows) {
                if (mailbox->taken >= kMostRows)
                    break;
                mailbox->rows.push_back(row);
                ++mailbox->taken;
            }
        };
        observer.progress = [&](double share, const SearchCounts& counts) {
            const std::scoped_lock lock(mailbox->mutex);
            mailbox->share = share;
            mailbox->counts = counts;
            mailbox->moved = true;
        };
        SearchResult result = search(*request, observer, stop);
        const std::scoped_lock lock(mailbox->mutex);
        mailbox->result = std::move(result);
    });
    m_timer.start();
}

void SearchService::cancel()
{
    if (isRunning())
        m_thread.request_stop();
}

void SearchService::drain()
{
    std::vector<ResultRow> rows;
    std::optional<SearchResult> result;
    std::optional<std::pair<double, SearchCounts>> progress;
    {
        const std::scoped_lock lock(m_mailbox->mutex);
        rows = std::exchange(m_mailbox->rows, {});
        result = std::exchange(m_mailbox->result, {});
        if (std::exchange(m_mailbox->moved, false))
            progress.emplace(m_mailbox->share, m_mailbox->counts);
    }
    if (result) {
        m_timer.stop();
        m_thread.join();
    }
    if (!rows.empty())
        emit found(rows);
    if (progress)
        emit progressed(progress->first, progress->second);
    if (result)
        emit finished(*result);
}

} // namespace fourfold::ui
