// SPDX-License-Identifier: GPL-3.0-or-later
// A table as the desktop has them: whole rows, no grid, rows as high as the font needs. Copies its selection as
// tab-separated text.
#pragma once

#include <QList>
#include <QTableView>

namespace fourfold::ui {

class DataTable : public QTableView {
    Q_OBJECT
public:
    explicit DataTable(QWidget* parent = nullptr);

    // Widths of the columns at 100 % zoom; the last column takes the rest.
    void setWidths(const QList<int>& widths);
    void resetWidths();
    // The selected rows (all, when none is) with a line of titles, tab-separated: spreadsheets take it as cells.
    [[nodiscard]] QString selectionAsText() const;

signals:
    void deletePressed(); // Del, without a modifier

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fitRows();

    QList<int> m_widths;
};

} // namespace fourfold::ui
