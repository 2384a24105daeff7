// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts that a search found, as a table: sorted and filtered over an index of its own with one reset each, so that
// 100,000 rows stay under a tenth of a second.
#pragma once

#include "app/models/runs/run_log_model.h"
#include "app/models/search/search_headers.h"
#include "app/models/shared/columns_model.h"
#include "core/report/table/table.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace fourfold::ui {

// A found layout with the value of every field that expressions may name.
struct ResultRow {
    FoundLayout found;
    PlanValues values{};
    Evidence evidence = Evidence::extrapolated;
    double order = 0; // what the search ranks by, less is better
    bool warned = false; // the prediction of it has warnings (but for those that need its bubble)
};

class ResultsModel : public ColumnsModel {
    Q_OBJECT
public:
    enum Column {
        pin,
        place, // among the best, by the objective and the risk of not fitting; ties share one
        gpus,
        tp,
        cp,
        pp,
        dp,
        ep,
        virtualStages,
        microBatch,
        schedule,
        sharding,
        recompute,
        memory,
        throughput,
        mfu,
        stepTime,
        againstPlan,
        confidence,
        columns
    };
    static constexpr int ValueRole = Qt::UserRole; // double: what the column sorts by
    static constexpr int LevelRole = Qt::UserRole + 1; // RunLogModel::Level of the last two columns, as int

    explicit ResultsModel(QObject* parent = nullptr);
    static QList<int> widths();

    void clear();
    void append(std::vector<ResultRow> rows);
    // What a search came to: the places of its best, and the layouts that no other beats in speed, memory and number of
    // GPUs at once.
    void setOutcome(const std::vector<FoundLayout>& best, const std::vector<FoundLayout>& pareto);
    void setParetoOnly(bool on);
    // Only rows for which it holds; empty = all. Of plan_field_set().
    void setFilter(std::optional<Expression> filter);
    // The warnings of a layout's prediction, for its tool tip.
    using WarningsOf = std::function<std::vector<std::string>(const FoundLayout&)>;
    void setWarnings(WarningsOf of) { m_warningsOf = std::move(of); }
    // What `againstPlan` compares with; empty = nothing.
    void setPlanThroughput(std::optional<double> tps_per_gpu);

    [[nodiscard]] int found() const { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] const ResultRow& row(int row) const { return m_rows[m_visible[static_cast<std::size_t>(row)]]; }
    [[nodiscard]] std::size_t idOf(int row) const { return m_visible[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int rowOf(std::size_t id) const; // -1 when it is not on show
    [[nodiscard]] const std::vector<ResultRow>& all() const { return m_rows; }
    [[nodiscard]] const std::vector<std::uint32_t>& visible() const { return m_visible; }
    [[nodiscard]] bool isPareto(std::size_t id) const { return m_pareto.contains(m_rows[id].found.candidate); }

    void togglePin(int row);
    [[nodiscard]] std::vector<std::size_t> pinned() const { return {m_pinned.begin(), m_pinned.end()}; }
    [[nodiscard]] Table table(int most) const; // of the rows on show, in their order

    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

signals:
    void pinsChanged();

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_visible.size()); }
    [[nodiscard]] QVariant cell(int row, int column, int role) const override;

private:
    void arrange();
    [[nodiscard]] double value(std::size_t id, int column) const;
    [[nodiscard]] QString text(std::size_t id, int column) const;
    [[nodiscard]] QString tip(std::size_t id, int column) const;
    [[nodiscard]] std::optional<RunLogModel::Level> level(std::size_t id, int column) const;

    std::vector<ResultRow> m_rows; // in the order of arrival: an id is an index
    std::vector<std::uint32_t> m_visible;
    std::set<Candidate> m_pareto;
    std::map<Candidate, int> m_places;
    std::set<std::size_t> m_pinned;
    std::optional<Expression> m_filter;
    std::optional<double> m_planThroughput;
    WarningsOf m_warningsOf;
    bool m_paretoOnly = false;
    int m_sortColumn = place;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace fourfold::ui
