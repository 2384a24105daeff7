// SPDX-License-Identifier: GPL-3.0-or-later
// A table as the desktop has them: whole rows, no grid, rows as high as the font needs. Copies its selection as
// tab-separated text.
#pragma once

#include "app/view/tables/saved_views.h"

#include <QKeySequence>
#include <QList>
#include <QTableView>

#include <functional>
#include <optional>

class QMenu;

namespace fourfold::ui {

class DataTable : public QTableView {
    Q_OBJECT
public:
    explicit DataTable(QWidget* parent = nullptr);

    // Shows `model`, which outlives the view. `name` and `accessible` are what tests and the session, and a screen
    // reader, call it.
    void present(QAbstractItemModel& model, const char* name, const QString& accessible, bool alternates = true);
    // A key that does something while the table has the focus.
    void onKey(Qt::Key key, std::function<void()> run);
    // What can be done with the selected rows, for their menu, above "Copy": an entry with the key that does the same
    // (empty: none), off where `possible` says so; or whatever `fill` adds.
    void addRowAction(
        const QString& text, const QKeySequence& shown, std::function<void()> run, std::function<bool()> possible = {});
    using RowMenu = std::function<void(QMenu& menu)>;
    void setRowMenu(RowMenu fill) { m_rowMenu = std::move(fill); }
    // What else belongs to a view of this table that is kept by a name (table_views.h), as its filter.
    struct ViewParts {
        std::function<void(view::SavedView& view)> get;
        std::function<void(const view::SavedView& view)> put;
    };
    void setViewParts(ViewParts parts) { m_viewParts = std::move(parts); }
    [[nodiscard]] const ViewParts& viewParts() const { return m_viewParts; }
    // Widths of the columns at 100 % zoom; the last column takes the rest. They follow the zoom, and are given to
    // columns that come later.
    void setWidths(const QList<int>& widths);
    // What a table has to spare goes to these columns until the user sets a width: to words that are cut, the first
    // column first, then in equal parts.
    void setGrowing(const QList<int>& columns);
    // Columns are as wide as what they hold, figures whole; words are cut at the width of setWidths(), or at a usual
    // one. Which columns are words: all whose cells stand at the left, or those given here.
    void setFitting(const QList<int>& words);
    void keepWidths(); // instead: those of setWidths(), whatever stands there
    // Not on show until somebody chooses them.
    void setUsuallyHidden(const QList<int>& columns);
    void setModel(QAbstractItemModel* model) override;
    void resetWidths();
    void resetColumns(); // all of them, in the order of the model, at their widths
    // The selected rows (all, when none is) of the columns on show with a line of titles, tab-separated: spreadsheets
    // take it as cells.
    [[nodiscard]] QString selectionAsText() const;

signals:
    void deletePressed(); // Del, without a modifier

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void grow();
    [[nodiscard]] int widthOf(int column) const; // without what grow() adds
    [[nodiscard]] int widthOf(int column, int widestWords) const; // were this the most for a column that may cut words
    [[nodiscard]] int fittedColumns() const; // how many grow() looks at
    void fitRows();
    void fitColumns(); // where zoom or number of columns are others than those of the widths

    struct RowAction {
        QString text;
        QKeySequence shown;
        std::function<void()> run;
        std::function<bool()> possible;
    };
    [[nodiscard]] bool isCut(int column) const; // where what it holds is wider than its place

    RowMenu m_rowMenu;
    QList<RowAction> m_rowActions;
    ViewParts m_viewParts;
    QList<int> m_widths, m_growing, m_hidden;
    std::optional<QList<int>> m_words; // empty: by the side on which the cells stand
    bool m_isFitting = true;
    QList<int> m_grown; // the widths that grow() gave
    int m_widthsZoom = 0, m_widthsColumns = 0;
};

} // namespace fourfold::ui
