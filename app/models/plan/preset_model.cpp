// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/preset_model.h"

#include "app/models/shared/text.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
const char* folderOf(PresetModel::Kind kind)
{
    switch (kind) {
    case PresetModel::Kind::models:
        return "models";
    case PresetModel::Kind::gpus:
        return "gpus";
    case PresetModel::Kind::clusters:
        return "clusters";
    case PresetModel::Kind::stacks:
        return "stacks";
    case PresetModel::Kind::plans:
        return "plans";
    case PresetModel::Kind::targets:
        return "targets";
    }
    return "";
}

template <typename Preset>
std::string nameOr(const Expected<Preset>& preset, const std::string& id)
{
    return preset && !preset->name.empty() ? preset->name : id;
}

// Plans and targets are read by their own rooms; only the name for people is of interest here.
std::string nameInFile(const Presets& presets, const std::string& folder, const std::string& id)
{
    const Expected<std::filesystem::path> file = presets.file(folder, id);
    if (!file)
        return id;
    const Expected<Json> json = read_json_file(*file);
    if (!json || !json->is_object())
        return id;
    const auto name = json->find("name");
    return name != json->end() && name->is_string() ? name->get<std::string>() : id;
}

std::string nameOf(const Presets& presets, PresetModel::Kind kind, const std::string& id)
{
    switch (kind) {
    case PresetModel::Kind::models:
        return nameOr(presets.model(id), id);
    case PresetModel::Kind::gpus:
        return nameOr(presets.gpu(id), id);
    case PresetModel::Kind::clusters:
        return nameOr(presets.cluster(id), id);
    case PresetModel::Kind::stacks:
        return nameOr(presets.stack(id), id);
    case PresetModel::Kind::plans:
    case PresetModel::Kind::targets:
        return nameInFile(presets, folderOf(kind), id);
    }
    return id;
}
} // namespace

PresetModel::PresetModel(const Presets& presets, Kind kind, QObject* parent)
    : QAbstractListModel(parent)
    , m_presets(presets)
    , m_kind(kind)
{
    read();
}

void PresetModel::read()
{
    m_entries.resize(m_hasCustom ? 1 : 0);
    for (const std::string& id : m_presets.ids(folderOf(m_kind)))
        m_entries.push_back({fromUtf8(id), fromUtf8(nameOf(m_presets, m_kind, id))});
}

void PresetModel::lookAgainFor(const QString& id)
{
    if (rowOf(id) >= 0)
        return;
    const std::vector<std::string> ids = m_presets.ids(folderOf(m_kind));
    if (std::find(ids.begin(), ids.end(), id.toStdString()) == ids.end())
        return;
    beginResetModel();
    read();
    endResetModel();
}

void PresetModel::setCustom(const QString& name)
{
    if (name.isEmpty() == !m_hasCustom) {
        if (m_hasCustom && m_entries.front().name != name) {
            m_entries.front().name = name;
            emit dataChanged(index(0), index(0));
        }
        return;
    }
    if (m_hasCustom) {
        beginRemoveRows({}, 0, 0);
        m_entries.erase(m_entries.begin());
        m_hasCustom = false;
        endRemoveRows();
    } else {
        beginInsertRows({}, 0, 0);
        m_entries.insert(m_entries.begin(), Entry{{}, name});
        m_hasCustom = true;
        endInsertRows();
    }
}

int PresetModel::rowOf(const QString& id) const
{
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (m_entries[i].id == id)
            return static_cast<int>(i);
    }
    return -1;
}

int PresetModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

QVariant PresetModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const Entry& entry = m_entries[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return entry.name;
    case IdRole:
    case Qt::ToolTipRole:
        return entry.id;
    default:
        return {};
    }
}

} // namespace fourfold::ui
