// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/search_service.h"

namespace fourfold::ui {

namespace {
constexpr int kProgressMilliseconds = 200;
}

SearchService::SearchService(QObject* parent)
    : QObject(parent)
{
    m_timer.setInterval(kProgressMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &SearchService::drain);
}

void SearchService::start(SearchRequest request)
{
    m_job.start(std::move(request));
    m_timer.start();
}

void SearchService::drain()
{
    const view::SearchJob::News news = m_job.take();
    if (news.result)
        m_timer.stop();
    if (!news.rows.empty())
        emit found(news.rows);
    if (news.share)
        emit progressed(*news.share, news.counts);
    if (news.result)
        emit finished(*news.result);
}

} // namespace fourfold::ui
