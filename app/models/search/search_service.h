// SPDX-License-Identifier: GPL-3.0-or-later
// The search of app/view with signals: what it finds is handed over in batches a few times a second.
#pragma once

#include "app/view/search/search_job.h"

#include <QObject>
#include <QTimer>

namespace fourfold::ui {

class SearchService : public QObject {
    Q_OBJECT
public:
    explicit SearchService(QObject* parent = nullptr); // cancels when it goes

    [[nodiscard]] bool isRunning() const { return m_job.is_running(); }
    // Precondition: !isRunning().
    void start(SearchRequest request);
    void cancel() { m_job.cancel(); } // what was found until then stays; finished() follows
    [[nodiscard]] const SearchRequest& request() const { return m_job.request(); } // of the last start()

signals:
    void found(const std::vector<fourfold::view::ResultRow>& rows);
    void progressed(double share, const fourfold::SearchCounts& counts);
    void finished(const fourfold::SearchResult& result);

private:
    void drain();

    view::SearchJob m_job;
    QTimer m_timer;
};

} // namespace fourfold::ui
