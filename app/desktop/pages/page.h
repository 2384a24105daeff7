// SPDX-License-Identifier: GPL-3.0-or-later
// A page of the window, and the list of all pages. A new page is a class of its own and one line of that list; what the
// window asks of a page stands here.
#pragma once

#include "app/desktop/dialogs/report_export.h"

#include <QVariantMap>
#include <QWidget>

#include <filesystem>
#include <optional>
#include <vector>

class QUndoStack;

namespace fourfold {
class Presets;
}

namespace fourfold::ui {

class LiveRun;
class PlanTabs;
class RunController;

class Page : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    // For the session: restore() takes what state() gave, after the plans are open. Empty: nothing is kept.
    [[nodiscard]] virtual QVariantMap state() const { return {}; }
    virtual void restore(const QVariantMap& /*state*/) { }
    // What undo is about while the page is on show; none: the current plan.
    [[nodiscard]] virtual QUndoStack* ownUndo() { return nullptr; }
    // The page to print; none: the report of the current plan.
    [[nodiscard]] virtual std::optional<ReportPage> ownReport() const { return std::nullopt; }
    // The part whose fields the finder offers.
    [[nodiscard]] virtual QWidget& settings() { return *this; }
    // Puts the cursor into the filter; false: the page has none.
    virtual bool focusFilter() { return false; }

signals:
    void message(const QString& text); // for the status bar
};

// What pages are made from; the references outlive them.
struct PageContext {
    const Presets& presets;
    PlanTabs& plans;
    RunController& controller;
    LiveRun& live;
    std::filesystem::path trainer; // empty: beside this program
    std::filesystem::path history; // empty: the user's
};

struct PageEntry {
    // In the session, on the command line, of the command that shows the page ("view.ID") and of its chapter of the
    // guide (resources/guide/NN-ID.md).
    const char* id;
    const char* title; // to be translated
    Page* (*make)(const PageContext& context);
    bool offersSearch = false; // the tool bar's buttons for the current plan
    bool offersRun = true;
};

// In the order of the tabs.
const std::vector<PageEntry>& pageList();

} // namespace fourfold::ui
