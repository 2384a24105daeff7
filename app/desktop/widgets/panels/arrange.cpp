// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/panels/arrange.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QDialog>
#include <QGridLayout>
#include <QStyle>
#include <QTabBar>
#include <QVariant>
#include <QWidget>

namespace fourfold::ui {

namespace {
template <class Layout>
Layout* arranged(std::initializer_list<Item> items, int spacing, const QMargins& margins)
{
    auto* layout = new Layout;
    layout->setSpacing(spacing);
    layout->setContentsMargins(margins);
    for (const Item& item : items) {
        if (item.widget)
            layout->addWidget(item.widget, item.stretch, item.alignment);
        else if (item.layout)
            layout->addLayout(item.layout, item.stretch);
        else if (item.space < 0)
            layout->addStretch();
        else
            layout->addSpacing(item.space);
    }
    return layout;
}
} // namespace

QVBoxLayout* columnOf(std::initializer_list<Item> items, int spacing, const QMargins& margins)
{
    return arranged<QVBoxLayout>(items, spacing, margins);
}

QHBoxLayout* rowOf(std::initializer_list<Item> items, int spacing, const QMargins& margins)
{
    return arranged<QHBoxLayout>(items, spacing, margins);
}

QWidget* holderOf(QLayout* layout)
{
    auto* holder = new QWidget;
    holder->setLayout(layout);
    return holder;
}

void usePanelStyle(QWidget* widget)
{
    widget->setProperty("role", "panel");
    widget->setAttribute(Qt::WA_StyledBackground);
}

QWidget* makePanel(QLayout* layout)
{
    auto* panel = new QWidget;
    usePanelStyle(panel);
    if (layout)
        panel->setLayout(layout);
    return panel;
}

QFrame* makeFrame(QLayout* layout)
{
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    frame->setLayout(layout);
    return frame;
}

QFrame* makeSeparator(Qt::Orientation orientation)
{
    auto* line = new QFrame;
    line->setProperty("role", "separator");
    orientation == Qt::Horizontal ? line->setFixedHeight(1) : line->setFixedWidth(1);
    return line;
}

QGridLayout* controlsGrid()
{
    auto* grid = new QGridLayout;
    grid->setContentsMargins(12, 10, 12, 8);
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(6);
    return grid;
}

QWidget* panelTitle(const QString& text)
{
    auto* title = new QLabel(text);
    title->setProperty("role", "paneltitle");
    return title;
}

QLabel* makeWords(const char* role, const QString& text, QLabel* label)
{
    label->setText(text);
    label->setWordWrap(true);
    label->setProperty("role", role);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QLabel* labelOf(const QString& text, QWidget* field)
{
    auto* label = new QLabel(text);
    label->setBuddy(field);
    return label;
}

void changeRole(QLabel* label, const QString& role)
{
    if (label->property("role").toString() == role)
        return;
    label->setProperty("role", role);
    const QFont font = label->font();
    label->style()->unpolish(label); // the style sheet reads the property again
    label->style()->polish(label);
    label->setFont(font); // of before the zoom, where the style sheet knows it from then
}

QString roleOf(Tone tone)
{
    switch (tone) {
    case Tone::good:
        return QStringLiteral("good");
    case Tone::warning:
        return QStringLiteral("warning");
    case Tone::bad:
        return QStringLiteral("bad");
    case Tone::neutral:
        break;
    }
    return QStringLiteral("normal");
}

QPushButton* makeButton(const QString& text, const char* look, const char* name, const QString& tip, QWidget* parent)
{
    auto* button = named(new QPushButton(text, parent), name);
    button->setProperty(look, true);
    button->setToolTip(tip);
    return button;
}

QComboBox* makeChooser(const char* name, const QString& accessible, int letters)
{
    auto* box = named(new QComboBox, name, accessible);
    box->setMinimumContentsLength(letters);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->view()->setTextElideMode(Qt::ElideRight);
    return box;
}

QTabBar* makeTabs(const char* name, const QString& accessible, const QStringList& tabs)
{
    auto* bar = named(new QTabBar, name, accessible);
    bar->setProperty("look", "views"); // as most of them; who has another one says so
    bar->setDrawBase(false);
    bar->setExpanding(false);
    for (const QString& tab : tabs)
        bar->addTab(tab);
    return bar;
}

DialogButtons acceptOrCancel(QDialog* dialog, const QString& accept, const char* name)
{
    auto* box = new QDialogButtonBox(QDialogButtonBox::Cancel);
    QPushButton* button = named(box->addButton(accept, QDialogButtonBox::AcceptRole), name);
    QObject::connect(box, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
    QObject::connect(box, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    return {box, button};
}

QDialogButtonBox* closeButton(QDialog* dialog)
{
    auto* box = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(box, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    return box;
}

} // namespace fourfold::ui
