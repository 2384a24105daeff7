// SPDX-License-Identifier: GPL-3.0-or-later
// One search at a time on threads of its own; what it finds is handed over in batches a few times a second.
#pragma once

#include "app/models/search/results_model.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <thread>

namespace fourfold::ui {

class SearchService : public QObject {
    Q_OBJECT
public:
    explicit SearchService(QObject* parent = nullptr);
    ~SearchService() override; // cancels

    [[nodiscard]] bool isRunning() const { return m_thread.joinable(); }
    // Precondition: !isRunning().
    void start(SearchRequest request);
    void cancel(); // what was found until then stays; finished() follows
    [[nodiscard]] const SearchRequest& request() const { return *m_request; } // of the last start()

    // More rows than this are not kept: a table of them would help nobody.
    static constexpr std::size_t kMostRows = 200'000;

signals:
    void found(const std::vector<fourfold::ui::ResultRow>& rows);
    void progressed(double share, const fourfold::SearchCounts& counts);
    void finished(const fourfold::SearchResult& result);

private:
    struct Mailbox;
    void drain();

    std::shared_ptr<const SearchRequest> m_request;
    std::shared_ptr<Mailbox> m_mailbox;
    QTimer m_timer;
    std::jthread m_thread;
};

} // namespace fourfold::ui
