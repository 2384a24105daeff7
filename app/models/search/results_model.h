// SPDX-License-Identifier: GPL-3.0-or-later
// The found layouts of app/view as an item model; each change of what is on show is one reset.
#pragma once

#include "app/models/shared/columns_model.h"
#include "app/view/search/results.h"

#include <functional>
#include <optional>
#include <vector>

namespace fourfold::ui {

using view::ResultRow;

class ResultsModel : public ColumnsModel, public view::ResultColumns {
    Q_OBJECT
public:
    static constexpr int ValueRole = Qt::UserRole; // double: what the column sorts by
    static constexpr int LevelRole = Qt::UserRole + 1; // view::Tone of the last two columns, as int

    explicit ResultsModel(QObject* parent = nullptr);
    static QList<int> widths();

    void clear();
    void append(std::vector<ResultRow> rows);
    void setOutcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto);
    void setParetoOnly(bool on);
    void setFilter(std::optional<Expression> filter);
    // The warnings of a layout's prediction, for its tool tip.
    using WarningsOf = std::function<std::vector<std::string>(const FoundLayout&)>;
    void setWarnings(WarningsOf of) { m_warningsOf = std::move(of); }
    // What the columns of the whole training are worked out with, for their tool tips.
    void setTrainingTip(std::string tip) { m_trainingTip = std::move(tip); }
    // What `against_plan` compares with, by its name; nothing: with none.
    void setPlan(const QString& name, std::optional<double> tps_per_gpu);
    void togglePin(int row);
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

    [[nodiscard]] const view::Results& results() const { return m_results; }
    [[nodiscard]] std::size_t idOf(int row) const { return m_results.visible()[static_cast<std::size_t>(row)]; }
    [[nodiscard]] const ResultRow& row(int row) const { return m_results.all()[idOf(row)]; }

signals:
    void pinsChanged();

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_results.visible().size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    [[nodiscard]] QString tip(std::size_t id, int column) const;

    view::Results m_results;
    WarningsOf m_warningsOf;
    std::string m_trainingTip;
    QString m_plan;
};

} // namespace fourfold::ui
