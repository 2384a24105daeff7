// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/command_palette.h"

#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card.h"
#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/panels/arrange.h"

#include <QAbstractSpinBox>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPointer>
#include <QStyledItemDelegate>

namespace fourfold::ui {

namespace {
// Text at the left, the group after it, keys at the right.
class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Theme& theme = themeOf(option.widget);
        const bool selected = option.state & QStyle::State_Selected;
        painter->save();
        painter->setLayoutDirection(Qt::LeftToRight); // places are reckoned from the left
        painter->fillRect(option.rect, selected ? theme.selection : theme.panel);
        const QRect line = option.rect.adjusted(px(10), 0, -px(10), 0);
        const QString keys = index.data(CommandModel::KeysRole).toString();
        painter->setFont(scaledFont(0));
        const int keysWidth = painter->fontMetrics().horizontalAdvance(keys);
        const QString text
            = painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideMiddle, line.width() - keysWidth);
        painter->setPen(selected ? theme.selectionText : theme.text);
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
        const int textWidth = painter->fontMetrics().horizontalAdvance(text);
        painter->setPen(selected ? theme.selectionText : theme.muted);
        painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, keys);
        const QString group = index.data(CommandModel::GroupRole).toString();
        if (textWidth + painter->fontMetrics().horizontalAdvance(group) + keysWidth + px(36) < line.width())
            painter->drawText(line.adjusted(textWidth + px(12), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, group);
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return {px(200), option.fontMetrics.height() + px(10)};
    }
};

void collect(QMenu* menu, const QString& group, std::vector<Command>& commands)
{
    for (QAction* action : menu->actions()) {
        if (action->isSeparator() || !action->isVisible())
            continue;
        const QString text = QString(action->text()).remove(QLatin1Char('&'));
        if (action->menu()) {
            collect(action->menu(), group + QStringLiteral(" \u203a ") + text, commands);
        } else if (action->isEnabled()) {
            commands.push_back({text, group, action->shortcut().toString(QKeySequence::NativeText),
                [held = QPointer<QAction>(action)] {
                    if (held)
                        held->trigger();
                }});
        }
    }
}

// The card that a field stands on; null where it stands on none.
const Card* cardOf(const QWidget* field)
{
    const QWidget* at = field;
    while (at && !qobject_cast<const Card*>(at))
        at = at->parentWidget();
    return static_cast<const Card*>(at);
}

// Not what belongs to other plans only; a card behind others is shown when it is asked for.
bool isOffered(const QWidget* field, const QWidget* page)
{
    const Card* card = cardOf(field);
    return field->isVisibleTo(card ? static_cast<const QWidget*>(card) : page);
}

void showCardOf(const QWidget* field)
{
    const Card* card = cardOf(field);
    for (QWidget* at = card ? card->parentWidget() : nullptr; at; at = at->parentWidget()) {
        if (auto* stack = qobject_cast<CardStack*>(at)) {
            stack->setCurrent(*card);
            return;
        }
    }
}

QString nameOf(const QWidget* field)
{
    const QString name = field->accessibleName();
    return name.left(1).toUpper() + name.mid(1);
}
} // namespace

CommandPalette::CommandPalette(std::vector<Command> commands, QWidget* parent)
    : QDialog(parent)
    , m_model(new CommandModel(std::move(commands), this))
    , m_filter(new QLineEdit)
    , m_list(new QListView)
    , m_nothing(named(makeWords("muted", tr("Nothing has these words in its name.")), "nothingFound"))
{
    setObjectName(QStringLiteral("commandPalette"));
    setWindowTitle(tr("Find a setting or command"));
    m_filter->setPlaceholderText(tr("Find a setting or command"));
    m_filter->setAccessibleName(tr("Find a setting or command"));
    m_filter->installEventFilter(this);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(tr("Commands"));
    const int margin = px(10);
    setLayout(columnOf({m_filter, m_list, {m_nothing, 1}}, 6, {margin, margin, margin, margin}));
    m_nothing->setAlignment(Qt::AlignCenter);
    m_nothing->hide();
    resizeDialog(this, 620, 420);
    connect(m_filter, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListView::clicked, this, &CommandPalette::runCurrent);
    m_list->setCurrentIndex(m_model->index(0));
    m_filter->setFocus();
}

void CommandPalette::filter(const QString& text)
{
    m_model->setFilter(text);
    m_list->setCurrentIndex(m_model->index(0));
    m_list->setVisible(m_model->rowCount() > 0);
    m_nothing->setVisible(m_model->rowCount() == 0);
}

void CommandPalette::runCurrent()
{
    m_chosen = m_list->currentIndex().row();
    if (m_chosen >= 0)
        accept();
}

void CommandPalette::runChosen() const
{
    m_model->run(m_chosen);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_filter && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int row = m_list->currentIndex().row();
        const auto go = [&](int to) {
            m_list->setCurrentIndex(m_model->index(std::clamp(to, 0, std::max(0, m_model->rowCount() - 1))));
        };
        switch (key->key()) {
        case Qt::Key_Up:
            go(row - 1);
            return true;
        case Qt::Key_Down:
            go(row + 1);
            return true;
        case Qt::Key_PageUp:
            go(row - 10);
            return true;
        case Qt::Key_PageDown:
            go(row + 10);
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            runCurrent();
            return true;
        default:
            break;
        }
    }
    return QDialog::eventFilter(watched, event);
}

std::vector<Command> CommandPalette::commandsOf(QWidget* window, const std::vector<SettingsPlace>& places)
{
    std::vector<Command> commands;
    if (auto* main = qobject_cast<QMainWindow*>(window)) {
        for (QAction* action : main->menuBar()->actions()) {
            if (action->menu())
                collect(action->menu(), QString(action->text()).remove(QLatin1Char('&')), commands);
        }
    }
    for (const SettingsPlace& place : places) {
        for (auto* field : place.page->findChildren<QWidget*>()) {
            const bool edits = qobject_cast<QAbstractSpinBox*>(field) || qobject_cast<QComboBox*>(field)
                || qobject_cast<QCheckBox*>(field) || field->property("setting").toBool();
            if (!edits || field->accessibleName().isEmpty() || !isOffered(field, place.page))
                continue;
            commands.push_back({nameOf(field), tr("Setting of %1").arg(place.name), {},
                [show = place.show, held = QPointer<QWidget>(field)] {
                    if (!held)
                        return;
                    show();
                    showCardOf(held);
                    held->setFocus(Qt::ShortcutFocusReason);
                }});
        }
    }
    return commands;
}

} // namespace fourfold::ui
