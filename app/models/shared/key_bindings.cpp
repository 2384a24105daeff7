// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/key_bindings.h"

#include <QAction>

#include <algorithm>

namespace fourfold::ui {

namespace {
QList<QKeySequence> listOf(const QKeySequence& sequence)
{
    return sequence.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{sequence};
}
constexpr ColumnsModel::Column kKeyColumns[]{{QT_TRANSLATE_NOOP("fourfold::ui::KeyBindings", "Command")},
    {QT_TRANSLATE_NOOP("fourfold::ui::KeyBindings", "Keys")}};
} // namespace

KeyBindings::KeyBindings(QObject* parent)
    : ColumnsModel(kKeyColumns, parent)
{
}

void KeyBindings::add(const QString& id, const QString& group, QAction* action)
{
    const int row = rowCount();
    beginInsertRows({}, row, row);
    m_entries.push_back({id, group, action, action->shortcuts()});
    endInsertRows();
}

void KeyBindings::reserve(const QList<QKeySequence>& sequences, const QString& holder)
{
    m_reserved = sequences;
    m_reservedFor = holder;
}

QString KeyBindings::nameOf(const Entry& entry)
{
    return QString(entry.action->text()).remove(QLatin1Char('&')).remove(QChar(0x2026));
}

std::optional<QString> KeyBindings::holder(std::size_t other, const QList<QKeySequence>& sequences) const
{
    const auto shares = [&](const QList<QKeySequence>& taken) {
        return std::any_of(
            sequences.begin(), sequences.end(), [&](const QKeySequence& one) { return taken.contains(one); });
    };
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (i != other && shares(m_entries[i].action->shortcuts()))
            return nameOf(m_entries[i]);
    }
    if (shares(m_reserved))
        return m_reservedFor;
    return std::nullopt;
}

std::optional<QString> KeyBindings::take(int row, const QList<QKeySequence>& sequences)
{
    const auto at = static_cast<std::size_t>(row);
    if (auto taken = holder(at, sequences))
        return taken;
    m_entries[at].action->setShortcuts(sequences);
    tell();
    return std::nullopt;
}

void KeyBindings::tell()
{
    allChanged();
    emit changed();
}

std::optional<QString> KeyBindings::assign(int row, const QKeySequence& sequence)
{
    return take(row, listOf(sequence));
}

std::optional<QString> KeyBindings::assignUsual(int row)
{
    return take(row, m_entries[static_cast<std::size_t>(row)].usual);
}

void KeyBindings::assignAllUsual()
{
    for (const Entry& entry : m_entries)
        entry.action->setShortcuts(entry.usual);
    tell();
}

bool KeyBindings::isUsual(int row) const
{
    const Entry& entry = m_entries[static_cast<std::size_t>(row)];
    return entry.action->shortcuts() == entry.usual;
}

QString KeyBindings::keysOf(const QString& id) const
{
    for (const Entry& entry : m_entries) {
        if (entry.id == id)
            return entry.action->shortcut().toString(QKeySequence::NativeText);
    }
    return {};
}

QVariantMap KeyBindings::chosen() const
{
    QVariantMap chosen;
    for (int row = 0; row < rowCount(); ++row) {
        const Entry& entry = m_entries[static_cast<std::size_t>(row)];
        if (!isUsual(row))
            chosen.insert(entry.id, entry.action->shortcut().toString(QKeySequence::PortableText));
    }
    return chosen;
}

void KeyBindings::restore(const QVariantMap& chosen)
{
    for (const Entry& entry : m_entries) {
        const auto found = chosen.constFind(entry.id);
        entry.action->setShortcuts(found == chosen.constEnd()
                ? entry.usual
                : listOf(QKeySequence::fromString(found->toString(), QKeySequence::PortableText)));
    }
    // All first, then the look for doubles: commands may have changed places. Usual keys have no doubles.
    for (bool doubles = true; doubles;) {
        doubles = false;
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            const Entry& entry = m_entries[i];
            if (isUsual(static_cast<int>(i)) || !holder(i, entry.action->shortcuts()))
                continue;
            entry.action->setShortcuts(entry.usual);
            doubles = true;
        }
    }
    tell();
}

QVariant KeyBindings::cell(int row, int column, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    const Entry& entry = m_entries[static_cast<std::size_t>(row)];
    if (column == command)
        return QStringLiteral("%1 \u203a %2").arg(entry.group, nameOf(entry));
    QString text = QKeySequence::listToString(entry.action->shortcuts(), QKeySequence::NativeText);
    text.replace(QLatin1String("; "), tr(" or "));
    return isUsual(row) ? text : text.isEmpty() ? tr("none (changed)") : tr("%1 (changed)").arg(text);
}

} // namespace fourfold::ui
