// SPDX-License-Identifier: GPL-3.0-or-later
// Two timelines on one axis: of plans, of found layouts, of runs as predicted and as measured, and what differs.
#pragma once

#include "app/models/compare/compare_entry.h"

#include <QWidget>

#include <array>
#include <vector>

class QComboBox;
class QLabel;
class QVBoxLayout;

namespace fourfold::ui {

class TimelineView;

class CompareTimelines : public QWidget {
    Q_OBJECT
public:
    explicit CompareTimelines(QWidget* parent = nullptr);
    void show(const std::vector<CompareEntry>& entries);
    using QWidget::show;
    [[nodiscard]] const std::array<TimelineView*, 2>& views() const { return m_views; }
    [[nodiscard]] QString difference() const;

private:
    // What can be chosen: an entry as predicted, or the step that was measured of it.
    struct Choice {
        std::size_t entry = 0;
        bool measured = false;
    };
    QWidget* makeControls();
    void showTimelines();
    [[nodiscard]] const Timeline* timelineOf(int choice) const; // null: none

    std::vector<CompareEntry> m_entries;
    std::vector<Choice> m_offered;
    std::array<TimelineView*, 2> m_views;
    std::array<QComboBox*, 2> m_choices;
    QWidget* m_both; // of the two
    QVBoxLayout* m_rows; // in it
    QLabel* m_difference;
    bool m_chosen = false; // by a person
};

} // namespace fourfold::ui
