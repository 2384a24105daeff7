// SPDX-License-Identifier: GPL-3.0-or-later
// The row above a table of results or runs: what narrows it at the left, what is done with it at the right, and below
// it what is wrong, where something is.
#pragma once

#include <QList>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace fourfold::ui {

class FilterBar : public QWidget {
    Q_OBJECT
public:
    // Takes the widgets. `beside` stand right of the filter; the filter gets `width` at 100 % zoom, or all the room
    // that is left where that is 0.
    FilterBar(QLineEdit* filter, int width, const QList<QWidget*>& beside, const QList<QPushButton*>& actions,
        QWidget* parent = nullptr);
    void focusFilter(); // with its text selected
    void showProblem(const QString& problem); // empty: there is none
    [[nodiscard]] QString problem() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fold();

    QLineEdit* m_filter;
    QLabel* m_problem;
    QHBoxLayout *m_above, *m_row; // where the bar is narrow, the filter has a line of its own
    bool m_folds;
};

} // namespace fourfold::ui
