// SPDX-License-Identifier: GPL-3.0-or-later
// What a crash would lose: every plan with unsaved changes, written to data_folder()/journal a moment after each edit.
// A program that is closed takes its journal away; one that finds a journal without a living owner restores it. The
// owner holds a lock beside its journal: that ends with it, however it ends, while process numbers go on being used.
#pragma once

#include "app/models/plan/plan_tabs.h"

#include <QTimer>

#include <filesystem>
#include <vector>

namespace fourfold::ui {

class PlanJournal : public QObject {
    Q_OBJECT
public:
    // `folder` is made when the first entry is written. `plans` outlives this.
    PlanJournal(PlanTabs& plans, std::filesystem::path folder);
    ~PlanJournal() override; // as a crash: nothing is discarded
    static std::filesystem::path defaultFolder();

    // A plan as it was when its program died.
    struct Entry {
        Json plan;
        std::filesystem::path file; // where it was opened from; empty: untitled
    };
    // Takes over what dead programs left, for the caller to show. Their journals stay until the next flush() has the
    // plans in this one.
    std::vector<Entry> takeLeftovers();
    // Writes at once what is waiting.
    void flush();
    // The program closes: nothing to restore any more.
    void discard();

signals:
    // What a crash would lose cannot be kept (a full disk, a home that is read-only): once, until it can again.
    void failed(const QString& why);

private:
    [[nodiscard]] std::filesystem::path file() const;
    bool lock();
    void forgetTaken();

    PlanTabs& m_plans;
    std::filesystem::path m_folder;
    QTimer m_timer;
    std::string m_written;
    bool m_hasFailed = false;
    int m_lock = -1; // held while there is a journal of this program
    struct Taken {
        std::filesystem::path journal;
        int lock = -1;
    };
    std::vector<Taken> m_taken; // journals of dead programs that nobody else may take meanwhile
};

} // namespace fourfold::ui
