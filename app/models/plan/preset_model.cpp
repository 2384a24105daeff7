// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/preset_model.h"

#include "app/models/shared/text.h"
#include "app/view/plan/choices.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
// Plans and targets are read by their own rooms; only the name for people is of interest here.
template <const char* folder>
std::string nameInFile(const Presets& presets, const std::string& id)
{
    const Expected<std::filesystem::path> file = presets.file(folder, id);
    const Expected<Json> json = file ? read_json_file(*file) : Expected<Json>(file.error());
    if (!json || !json->is_object())
        return id;
    const auto name = json->find("name");
    return name != json->end() && name->is_string() ? name->get<std::string>() : id;
}

template <auto read>
std::string nameOfPreset(const Presets& presets, const std::string& id)
{
    const auto preset = (presets.*read)(id);
    return preset && !preset->name.empty() ? preset->name : id;
}

std::string nameOfStack(const Presets& presets, const std::string& written)
{
    const auto stack = presets.stack(written);
    return stack ? stack->full_name() : written;
}

struct PresetKind {
    const char* folder;
    std::string (*name)(const Presets& presets, const std::string& id);
};

const PresetKind& wordsOf(PresetModel::Kind kind)
{
    static constexpr char plans[] = "plans", targets[] = "targets";
    static constexpr PresetKind kinds[]{{"models", nameOfPreset<&Presets::model>},
        {"gpus", nameOfPreset<&Presets::gpu>}, {"clusters", nameOfPreset<&Presets::cluster>}, {"stacks", nameOfStack},
        {plans, nameInFile<plans>}, {targets, nameInFile<targets>}};
    return kinds[static_cast<std::size_t>(kind)];
}

std::vector<std::string> idsOf(const Presets& presets, PresetModel::Kind kind)
{
    return view::preset_choices(presets, wordsOf(kind).folder);
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
    for (const std::string& id : idsOf(m_presets, m_kind))
        m_entries.push_back({fromUtf8(id), fromUtf8(wordsOf(m_kind).name(m_presets, id))});
}

void PresetModel::lookAgainFor(const QString& id)
{
    if (rowOf(id) >= 0)
        return;
    const std::vector<std::string> ids = idsOf(m_presets, m_kind);
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
