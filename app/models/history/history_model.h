// SPDX-License-Identifier: GPL-3.0-or-later
// The stored runs as a table: predicted beside measured. Sorting and filtering go over an index of its own, with one
// layout change each, because a proxy model moves rows one by one.
#pragma once

#include "app/models/shared/columns_model.h"
#include "core/history/store.h"
#include "core/report/views/run_filter.h"

#include <memory>
#include <vector>

namespace fourfold {
class Expression;
}

namespace fourfold::ui {

class HistoryModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column {
        name,
        model,
        state,
        target,
        layout,
        gpus,
        steps,
        predictedTps,
        measuredTps,
        tpsError,
        mostOff, // the part of a traced step that is furthest from its prediction
        predictedMemory,
        measuredMemory,
        loss,
        tags,
        created,
        columns
    };
    static constexpr int IdRole = Qt::UserRole; // QString: the run's id
    static constexpr int ValueRole = Qt::UserRole + 1; // what the column sorts by
    static constexpr int LevelRole = Qt::UserRole + 2; // view::Tone of the state column, as int

    explicit HistoryModel(QObject* parent = nullptr);
    static QList<int> widths();
    void show(std::vector<RunSummary> runs);
    // Shows only runs of which a column contains every word of the filter, without regard to case.
    void setFilter(const QString& words);
    // Shows only runs for which it holds; of fields().
    void setFilter(const Expression& expression);
    // Of the runs that show() got last.
    [[nodiscard]] const FieldSet& fields() const { return m_fields.set(); }
    [[nodiscard]] int storedRuns() const { return static_cast<int>(m_runs.size()); }
    [[nodiscard]] const RunSummary& run(int row) const { return m_runs[m_visible[static_cast<std::size_t>(row)]]; }
    [[nodiscard]] int rowOf(const QString& id) const; // -1 when it is not on show
    // The stored run, on show or not; null where there is none.
    [[nodiscard]] const RunSummary* find(const QString& id) const;

    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_visible.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    [[nodiscard]] QString haystack(const RunSummary& run) const;
    void arrange();

    std::vector<RunSummary> m_runs; // newest first, as the store lists them
    std::vector<QString> m_haystacks; // of each run, what the filter's words are looked for in
    RunFields m_fields{{}};
    std::vector<std::size_t> m_visible;
    QStringList m_words;
    std::shared_ptr<const Expression> m_expression; // null: words
    int m_sortColumn = created;
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
};

} // namespace fourfold::ui
