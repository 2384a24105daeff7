// SPDX-License-Identifier: GPL-3.0-or-later
// Entries side by side: a row per figure, a column per entry, differences to the reference column with their sign.
#pragma once

#include "app/models/compare/compare_entry.h"
#include "core/report/table/table.h"

#include <QAbstractTableModel>

#include <functional>
#include <utility>
#include <variant>
#include <vector>

namespace fourfold::ui {

class CompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int LevelRole = Qt::UserRole; // view::Tone as int: better is good, worse is a warning
    static constexpr int HeadingRole = Qt::UserRole + 1; // bool: the row names a group
    static constexpr int DeltaRole = Qt::UserRole + 2; // double: relative to the reference; invalid where there is none

    explicit CompareModel(QObject* parent = nullptr);

    void show(std::vector<CompareEntry> entries);
    [[nodiscard]] const std::vector<CompareEntry>& entries() const { return m_entries; }
    // The column that others are compared with, an index into entries(). The entry stays the reference wherever it
    // stands later; where it is not shown for a moment the first one is. 0: whichever is the first.
    void setReference(int entry);
    [[nodiscard]] int reference() const { return m_reference; }
    void setDifferencesOnly(bool on);

    // What a cell's number is derived from; of the names of figures it is the reference's. Without an entry: nothing is
    // derived there.
    struct Derived {
        const CompareEntry* entry = nullptr;
        QString title;
        std::string figure; // of explained_figures(), or kStageMemory
        QString part; // of it; empty: all of it
    };
    static constexpr const char* kStageMemory = "stage"; // of the fullest one: explain_stage()
    [[nodiscard]] Derived derivedAt(const QModelIndex& index) const;

    // One row an entry, with what identifies it first: for files.
    [[nodiscard]] Table table() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    using Value = std::variant<std::monostate, double, QString>;
    struct Metric {
        QString group, name;
        std::string key; // in files
        std::function<Value(const CompareEntry&)> value;
        std::function<QString(double)> text; // of a number
        int better = 0; // 1: more is better, -1: less is better, 0: neither
        int decimals = -5; // in files
        bool identifies = false; // says which plan it is: in front in files
        QString title{}; // in files, where no group stands over it: no two are the same
    };

private:
    struct Row {
        const Metric* metric = nullptr; // null: a heading
        QString heading;
    };
    void arrange();
    [[nodiscard]] bool differs(const Metric& metric) const;
    [[nodiscard]] QString text(const Metric& metric, std::size_t entry) const;
    [[nodiscard]] std::optional<double> delta(const Metric& metric, std::size_t entry) const;

    std::vector<Metric> m_metrics;
    std::vector<CompareEntry> m_entries;
    std::vector<Row> m_rows;
    int m_reference = 0;
    QString m_referenceId; // empty: whichever is the first
    bool m_differencesOnly = false;
};

// Every figure of a comparison, in groups: what it is, memory, speed, where the time goes, measured.
std::vector<CompareModel::Metric> compareMetrics();
// Figure and part of its derivation, as CompareModel::Derived has them; an empty figure where there is none.
std::pair<std::string, QString> derivationOfMetric(const std::string& key);

} // namespace fourfold::ui
