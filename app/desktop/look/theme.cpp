// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/look/theme.h"

#include <QApplication>
#include <QRegularExpression>
#include <QWidget>

#include <map>

namespace fourfold::ui {

namespace {
void setDataColours(Theme& theme)
{
    theme.weights = theme.forward = QColor(0x00, 0x72, 0xb2);
    theme.gradients = QColor(0x56, 0xb4, 0xe9);
    theme.optimizer = QColor(0x00, 0x9e, 0x73);
    theme.weightGradient = QColor(0xdb, 0x63, 0x06); // vermilion, a little lighter: it has dark numerals
    theme.activations = theme.backward = QColor(0xe6, 0x9f, 0x00);
    theme.buffers = theme.communication = QColor(0xcc, 0x79, 0xa7);
    theme.onDarkBar = Qt::white;
    theme.onLightBar = QColor(0x2b, 0x1d, 0x00);
    theme.primary = QColor(0x00, 0x6b, 0xa8);
    theme.primaryHover = QColor(0x00, 0x7d, 0xc3);
    theme.primaryPressed = QColor(0x00, 0x58, 0x8a);
    theme.onAccent = Qt::white;
}

Theme makeLight()
{
    Theme t;
    setDataColours(t);
    t.dark = false;
    t.window = QColor(0xee, 0xf0, 0xf3);
    t.panel = t.field = Qt::white;
    t.alternate = QColor(0xf6, 0xf7, 0xf9);
    t.button = QColor(0xf7, 0xf8, 0xfa);
    t.fieldLine = QColor(0x8c, 0x95, 0x9f);
    t.line = QColor(0xd5, 0xd9, 0xdf);
    t.grid = QColor(0xe6, 0xe9, 0xee);
    t.idle = QColor(0xec, 0xef, 0xf3);
    t.text = QColor(0x1d, 0x23, 0x2b);
    t.muted = QColor(0x56, 0x61, 0x6e);
    t.accent = t.accentText = QColor(0x00, 0x6b, 0xa8);
    t.good = QColor(0x00, 0x6e, 0x4b);
    t.warning = QColor(0x8a, 0x5c, 0x00);
    t.bad = QColor(0xb9, 0x3b, 0x0a);
    t.selection = QColor(0xcf, 0xe6, 0xf5);
    t.selectionText = QColor(0x0b, 0x2e, 0x45);
    t.rest = t.muted;
    t.curves = {QColor(0x00, 0x6b, 0xa8), QColor(0xdc, 0x46, 0x00), QColor(0x02, 0xa3, 0x52), QColor(0xae, 0x87, 0xb5),
        QColor(0x8a, 0x1c, 0x2c), QColor(0x7f, 0x8f, 0x83), QColor(0x5e, 0x4d, 0x67)};
    return t;
}

Theme makeDark()
{
    Theme t;
    setDataColours(t);
    t.dark = true;
    t.window = QColor(0x1d, 0x21, 0x26);
    t.panel = QColor(0x25, 0x2a, 0x30);
    t.field = QColor(0x1f, 0x24, 0x29);
    t.alternate = QColor(0x28, 0x2e, 0x35);
    t.button = QColor(0x2f, 0x36, 0x3e);
    t.fieldLine = QColor(0x74, 0x80, 0x8c);
    t.line = QColor(0x3a, 0x42, 0x4b);
    t.grid = QColor(0x34, 0x3b, 0x44);
    t.idle = QColor(0x2f, 0x36, 0x3e);
    t.text = QColor(0xe6, 0xe9, 0xed);
    t.muted = QColor(0x9f, 0xaa, 0xb6);
    t.accent = t.accentText = QColor(0x56, 0xb4, 0xe9);
    t.good = QColor(0x3e, 0xcf, 0x9a);
    t.warning = QColor(0xf0, 0xb4, 0x29);
    t.bad = QColor(0xff, 0x8a, 0x6c);
    t.selection = QColor(0x1f, 0x5f, 0x88);
    t.selectionText = Qt::white;
    t.rest = QColor(0xc8, 0xd0, 0xd8); // the muted text is too near the data's purple without green cones
    t.curves = {QColor(0x56, 0xb4, 0xe9), QColor(0xd0, 0x84, 0x3c), QColor(0x4f, 0xe0, 0xa0), QColor(0xe0, 0x50, 0x9c),
        QColor(0xff, 0xda, 0x6f), QColor(0x8a, 0x76, 0xff), QColor(0xb7, 0xcb, 0xd1)};
    return t;
}
} // namespace

const Theme& lightTheme()
{
    static const Theme theme = makeLight();
    return theme;
}

const Theme& darkTheme()
{
    static const Theme theme = makeDark();
    return theme;
}

const Theme& themeOf(const QWidget* widget)
{
    const QPalette& palette = widget ? widget->palette() : QApplication::palette();
    return palette.color(QPalette::Window).lightness() < 128 ? darkTheme() : lightTheme();
}

QPalette Theme::palette() const
{
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, field);
    p.setColor(QPalette::AlternateBase, alternate);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::Button, button);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, bad);
    p.setColor(QPalette::Highlight, selection);
    p.setColor(QPalette::HighlightedText, selectionText);
    p.setColor(QPalette::ToolTipBase, panel);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::PlaceholderText, muted);
    p.setColor(QPalette::Mid, line);
    p.setColor(QPalette::Link, accentText);
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::ButtonText, QPalette::WindowText})
        p.setColor(QPalette::Disabled, role, muted);
    return p;
}

QColor Theme::toneColor(Tone tone) const
{
    switch (tone) {
    case Tone::good:
        return good;
    case Tone::warning:
        return warning;
    case Tone::bad:
        return bad;
    case Tone::neutral:
        break;
    }
    return text;
}

QString Theme::styleSheet() const
{
    // By their names in the style sheet: "%panel".
    static const std::map<QString, QColor Theme::*> colours{{"panel", &Theme::panel}, {"window", &Theme::window},
        {"line", &Theme::line}, {"grid", &Theme::grid}, {"accentText", &Theme::accentText}, {"accent", &Theme::accent},
        {"alternate", &Theme::alternate}, {"selectionText", &Theme::selectionText}, {"selection", &Theme::selection},
        {"muted", &Theme::muted}, {"text", &Theme::text}, {"good", &Theme::good}, {"warning", &Theme::warning},
        {"bad", &Theme::bad}, {"field", &Theme::field}, {"onAccent", &Theme::onAccent},
        {"primaryHover", &Theme::primaryHover}, {"primaryPressed", &Theme::primaryPressed},
        {"primary", &Theme::primary}, {"button", &Theme::button}};
    // Dynamic properties: role=muted|heading|good|warning|bad on labels, primary=true on the one filled button,
    // plain=true and small=true on the others.
    static const QString rules = QStringLiteral(R"(
QMenuBar { background: %panel; }
QToolBar { border: 0; border-bottom: 1px solid %line; spacing: 4px; padding: 4px 8px; background: %panel; }
QToolBar::separator { background: %line; width: 1px; margin: 6px 8px; }
QToolButton { padding: 5px 9px; border: 1px solid transparent; border-radius: 4px; }
QFileDialog QToolButton { padding: 1px; }
QToolButton:hover { background: %grid; }
QToolButton:pressed { background: %line; }
QToolButton:focus { border-color: %accent; }
QToolButton::menu-indicator { image: none; width: 0; }
QStatusBar { border-top: 1px solid %line; background: %panel; color: %muted; }
QStatusBar::item { border: 0; }
QScrollArea { border: 0; background: %panel; }
QScrollArea[gap="true"] { background: %window; }
QTabBar[look="modes"] { background: %panel; }
QTabBar[look="modes"]::tab { padding: 7px 14px 6px 14px; border: 0; border-bottom: 2px solid transparent; color: %muted; }
QTabBar[look="modes"]::tab:hover { color: %text; }
QTabBar[look="modes"]::tab:selected { color: %text; border-bottom: 2px solid %accent; font-weight: 600; }
QTabBar[look="modes"]::tab:focus { color: %accentText; }
QHeaderView::section { background: %alternate; border: 0; border-right: 1px solid %line; border-bottom: 1px solid %line; padding: 5px 8px; color: %muted; font-weight: 600; }
QHeaderView { background: %alternate; }
QTableView { border: 0; background: %panel; gridline-color: %grid; alternate-background-color: %alternate; }
QTableView::item { border: 0; padding: 0 8px; }
QTableView::item:selected { background: %selection; color: %selectionText; }
QProgressBar { border: 0; border-radius: 2px; background: %grid; }
QProgressBar::chunk { border-radius: 2px; background: %primary; }
QSplitter::handle { background: %line; }
QSplitter[gap="true"]::handle { background: transparent; }
QSplitter[gap="true"]::handle:hover { background: %grid; }
QToolTip { background: %panel; color: %text; border: 1px solid %line; padding: 4px; }
QLabel[role="muted"] { color: %muted; }
QLabel[role="good"] { color: %good; }
QLabel[role="warning"] { color: %warning; }
QLabel[role="bad"] { color: %bad; }
QLabel[role="heading"] { font-weight: 600; }
QFrame[role="frame"] { background: %panel; border: 1px solid %line; border-radius: 5px; }
QFrame[role="separator"] { background: %line; border: 0; }
QWidget[role="panel"] { background: %panel; }
QLabel[role="paneltitle"] { background: %alternate; border-bottom: 1px solid %line; padding: 6px 12px; font-weight: 600; }
QPushButton[primary="true"] { background: %primary; color: %onAccent; border: 1px solid %primary; border-radius: 4px; padding: 6px 18px; font-weight: 600; }
QPushButton[primary="true"]:hover { background: %primaryHover; }
QPushButton[primary="true"]:pressed { background: %primaryPressed; }
QPushButton[primary="true"]:focus { border: 1px solid %text; }
QPushButton[primary="true"]:disabled { background: %grid; border-color: %line; color: %muted; }
QPushButton[plain="true"] { background: %button; border: 1px solid %line; border-radius: 4px; padding: 5px 14px; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[plain="true"]:hover { border-color: %muted; }
QPushButton[plain="true"]:pressed { background: %grid; }
QPushButton[plain="true"]:focus { border-color: %accent; }
QPushButton[plain="true"]:disabled { color: %muted; }
QPushButton[finder="true"] { background: %field; border: 1px solid %line; border-radius: 4px; padding: 5px 14px; color: %muted; text-align: left; }
QPushButton[finder="true"]:hover { border-color: %muted; }
QPushButton[finder="true"]:focus { border-color: %accent; }
QFrame[role="banner"] { background: %alternate; border: 0; border-bottom: 1px solid %line; }
QLabel[role="drophint"] { background: %panel; color: %text; border: 2px dashed %accent; border-radius: 8px; font-weight: 600; }
QTabBar[look="switch"] { background: transparent; }
QTabBar[look="switch"]::tab { padding: 2px 9px; border: 1px solid %line; color: %muted; background: %panel; margin-left: -1px; }
QTabBar[look="switch"]::tab:hover { color: %text; }
QTabBar[look="switch"]::tab:selected { color: %text; background: %grid; }
QTabBar[look="switch"]::tab:focus { border-color: %accent; color: %accentText; }
QDialog QPushButton { background: %button; border: 1px solid %line; border-radius: 4px; padding: 5px 14px; }
QDialog QPushButton:hover { border-color: %muted; }
QDialog QPushButton:pressed { background: %grid; }
QDialog QPushButton:default, QDialog QPushButton:focus { border-color: %accent; }
QDialog QPushButton:disabled { color: %muted; }
QTreeView { border: 0; background: %panel; alternate-background-color: %alternate; }
QTreeView::item { border: 0; padding: 0 6px; }
QTreeView::item:selected { background: %selection; color: %selectionText; }
QListWidget#compareList { background: %panel; border: 0; padding: 2px 7px; }
QListWidget#compareList::item { padding: 5px 3px; }
QListWidget#compareList::item:selected { background: %selection; color: %selectionText; }
QTabBar[look="views"] { background: %window; }
QTabBar[look="views"]::tab { padding: 6px 12px; border: 0; border-right: 1px solid %line; color: %muted; background: %alternate; }
QTabBar#planTabs::tab { max-width: 260px; }
QTabBar[look="views"]::tab:focus { color: %accentText; }
QTabBar[look="views"]::tab:selected { color: %text; background: %panel; border-bottom: 2px solid %accent; }
QPushButton[small="true"] { background: %button; border: 1px solid %line; border-radius: 3px; padding: 2px 10px; min-height: 18px; }
QPushButton[small="true"]:hover { border-color: %muted; }
QPushButton[small="true"]:focus { border-color: %accent; }
)");
    static const QRegularExpression name(QStringLiteral("%([A-Za-z]+)"));
    QString sheet;
    qsizetype end = 0;
    for (QRegularExpressionMatchIterator at = name.globalMatch(rules); at.hasNext();) {
        const QRegularExpressionMatch match = at.next();
        sheet += rules.mid(end, match.capturedStart() - end) + (this->*colours.at(match.captured(1))).name();
        end = match.capturedEnd();
    }
    return sheet + rules.mid(end);
}

} // namespace fourfold::ui
