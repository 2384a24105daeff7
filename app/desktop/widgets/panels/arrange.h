// SPDX-License-Identifier: GPL-3.0-or-later
// How the parts of a page are put together: lines and columns written as they stand there, and the few looks that
// labels, buttons and surfaces have (see Theme::styleSheet()).
#pragma once

#include "app/view/tone.h"

#include <QBoxLayout>
#include <QDialogButtonBox>
#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include <initializer_list>

class QComboBox;
class QDialog;
class QGridLayout;
class QTabBar;

namespace fourfold::ui {

using view::Tone;

// One thing in a line or column: a widget or a layout with its share of the room, or nothing.
struct Item {
    Item(QWidget* widget, int stretch = 0, Qt::Alignment alignment = {})
        : widget(widget)
        , stretch(stretch)
        , alignment(alignment)
    {
    }
    Item(QLayout* layout, int stretch = 0)
        : layout(layout)
        , stretch(stretch)
    {
    }
    static Item gap(int pixels) { return {pixels}; }
    static Item spring() { return {-1}; } // takes the room that is left

    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int stretch = 0;
    Qt::Alignment alignment = {};
    int space = 0; // without widget and layout; negative: what is left

private:
    Item(int space)
        : space(space)
    {
    }
};
QVBoxLayout* columnOf(std::initializer_list<Item> items, int spacing = 0, const QMargins& margins = {});
QHBoxLayout* rowOf(std::initializer_list<Item> items, int spacing = 8, const QMargins& margins = {});
// A widget that is nothing but what stands in it.
QWidget* holderOf(QLayout* layout);

// The plain surface that tables and controls stand on.
QWidget* makePanel(QLayout* layout = nullptr);
void usePanelStyle(QWidget* widget);
QFrame* makeFrame(QLayout* layout); // with a line around it
QFrame* makeSeparator(Qt::Orientation orientation);
// For rows of labelled controls at the top of a page.
QGridLayout* controlsGrid();
QWidget* panelTitle(const QString& text);

// What tests, the session and the finder call it, and what a screen reader does.
template <class W>
W* named(W* widget, const char* name, const QString& accessible = {})
{
    widget->setObjectName(QString::fromLatin1(name));
    if (!accessible.isEmpty())
        widget->setAccessibleName(accessible);
    return widget;
}

// Text in a tone ("muted", "good", "warning", "bad", "heading", or none) that can be marked and copied; over as many
// lines as it needs.
QLabel* makeWords(const char* role, const QString& text = {}, QLabel* label = new QLabel);
QLabel* labelOf(const QString& text, QWidget* field); // of a field: its mnemonic goes there
// What a label that is on show says has another tone now.
void changeRole(QLabel* label, const QString& role);
QString roleOf(Tone tone);

// `look`: "plain", "small" or "primary".
QPushButton* makeButton(
    const QString& text, const char* look, const char* name = "", const QString& tip = {}, QWidget* parent = nullptr);
// A box of choices that may be narrower than its texts, for which `letters` are enough at least.
QComboBox* makeChooser(const char* name, const QString& accessible, int letters = 8);
// Tabs that switch what stands under them.
QTabBar* makeTabs(const char* name, const QString& accessible, const QStringList& tabs = {});

// Cancel, and the button that accepts; the dialog ends with either.
struct DialogButtons {
    QDialogButtonBox* box;
    QPushButton* accept;
};
DialogButtons acceptOrCancel(QDialog* dialog, const QString& accept, const char* name = "");
QDialogButtonBox* closeButton(QDialog* dialog);

} // namespace fourfold::ui
