// SPDX-License-Identifier: GPL-3.0-or-later
// The presets of one kind as a list for pickers: name to show, id to write into a plan. A plan that carries an object
// of its own instead of an id gets a first row for it.
#pragma once

#include "core/plan/presets.h"

#include <QAbstractListModel>

#include <vector>

namespace fourfold::ui {

class PresetModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum class Kind { models, gpus, clusters, stacks, plans, targets };
    static constexpr int IdRole = Qt::UserRole; // QString, empty for the plan's own object

    // `presets` outlives the model.
    PresetModel(const Presets& presets, Kind kind, QObject* parent = nullptr);

    // Names the plan's own object; an empty name removes that row.
    void setCustom(const QString& name);
    // Reads the presets again where `id` is not among them: it was saved since.
    void lookAgainFor(const QString& id);
    // Row of an id, of the custom row for an empty id; -1 when there is none.
    [[nodiscard]] int rowOf(const QString& id) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    struct Entry {
        QString id, name;
    };
    void read(); // behind the custom row

    const Presets& m_presets;
    Kind m_kind;
    std::vector<Entry> m_entries;
    bool m_hasCustom = false;
};

} // namespace fourfold::ui
