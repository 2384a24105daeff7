// SPDX-License-Identifier: GPL-3.0-or-later
// The stored runs of app/view as an item model, with one layout change for each order and one reset for each filter.
#pragma once

#include "app/models/shared/columns_model.h"
#include "app/view/history/runs_list.h"

namespace fourfold::ui {

class HistoryModel : public ColumnsModel, public view::RunColumns {
    Q_OBJECT
public:
    static constexpr int IdRole = Qt::UserRole; // QString: the run's id
    static constexpr int LevelRole = Qt::UserRole + 1; // view::Tone of the state column, as int

    explicit HistoryModel(QObject* parent = nullptr);
    static QList<int> widths();
    void show(std::vector<RunSummary> runs);
    void setFilter(const QString& words);
    void setFilter(const Expression& expression); // of list().fields()
    [[nodiscard]] const view::RunsList& list() const { return m_list; }
    [[nodiscard]] const RunSummary& run(int row) const { return m_list.run(static_cast<std::size_t>(row)); }
    [[nodiscard]] int rowOf(const QString& id) const; // -1 when it is not on show
    // The stored run, on show or not; null where there is none.
    [[nodiscard]] const RunSummary* find(const QString& id) const;

    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_list.visible().size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    view::RunsList m_list;
};

} // namespace fourfold::ui
