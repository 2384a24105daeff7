// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/keys_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"

#include <QGridLayout>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>

namespace fourfold::ui {

namespace {
struct Row {
    const char* keys;
    const char* what;
};
// They belong to what has the focus, some to the place of the key: they stay.
constexpr Row kFixed[]{
    {"Enter", QT_TRANSLATE_NOOP("KeysDialog", "Figures and parts: derivation; search results: apply to the plan")},
    {"Ctrl+PgUp, Ctrl+PgDown", QT_TRANSLATE_NOOP("KeysDialog", "The other picture in the same place")},
    {"W S A D", QT_TRANSLATE_NOOP("KeysDialog", "Timeline: zoom at the pointer, pan (by key position)")},
    {"Wheel, Shift+wheel", QT_TRANSLATE_NOOP("KeysDialog", "Timeline: zoom at the pointer, pan")},
    {"Shift+drag", QT_TRANSLATE_NOOP("KeysDialog", "Timeline: measure a time; Z zooms to it")},
    {"M", QT_TRANSLATE_NOOP("KeysDialog", "Timeline: mark a time, or take the mark away")},
    {"Z, F, Backspace", QT_TRANSLATE_NOOP("KeysDialog", "Timeline: to the selection, whole step, previous zoom")},
    {"Arrows", QT_TRANSLATE_NOOP("KeysDialog", "Pictures: from bar to bar, stage to stage, GPU to GPU")},
    {"P, C", QT_TRANSLATE_NOOP("KeysDialog", "Tables: pin a row; compare")},
    {"D", QT_TRANSLATE_NOOP("KeysDialog", "Found layouts, stored runs, cells of a sweep: derivation of the figure")},
    {"Ctrl+Enter", QT_TRANSLATE_NOOP("KeysDialog", "Search: start")},
    {"Ctrl+C", QT_TRANSLATE_NOOP("KeysDialog", "Tables: copy the chosen rows")}};

QWidget* fixedKeys()
{
    auto* grid = new QGridLayout;
    grid->setContentsMargins(px(14), px(14), px(14), px(14));
    grid->setHorizontalSpacing(px(20));
    grid->setVerticalSpacing(px(8));
    int line = 0;
    for (const Row& row : kFixed) {
        auto* keys = new QLabel(QString::fromLatin1(row.keys));
        keys->setProperty("role", "heading");
        grid->addWidget(keys, line, 0);
        grid->addWidget(new QLabel(KeysDialog::tr(row.what)), line++, 1);
    }
    grid->setRowStretch(line, 1);
    grid->setColumnStretch(1, 1);
    return holderOf(grid);
}
} // namespace

KeysDialog::KeysDialog(KeyBindings& keys, QWidget* parent)
    : QDialog(parent)
    , m_keys(keys)
    , m_table(new DataTable)
    , m_edit(new QKeySequenceEdit)
    , m_none(new QPushButton(tr("No keys")))
    , m_usual(new QPushButton(tr("Default")))
    , m_allUsual(new QPushButton(tr("All defaults")))
    , m_said(named(makeWords("muted"), "keysSaid"))
{
    setObjectName(QStringLiteral("keysDialog"));
    setWindowTitle(tr("Keyboard shortcuts"));
    auto* tabs = new QTabWidget;
    tabs->addTab(makeCommands(), tr("Commands"));
    tabs->addTab(fixedKeys(), tr("Pictures and tables"));
    setLayout(columnOf({{tabs, 1}, closeButton(this)}, 6, {9, 9, 9, 9}));
    resizeDialog(this, 620, 560);
    showChosen();
}

QWidget* KeysDialog::makeCommands()
{
    m_table->present(m_keys, "keys", tr("Commands and their keys"));
    m_table->setWidths({350});
    m_table->selectRow(0);
    named(m_edit, "newKeys", tr("New keys of the chosen command"));
    for (QPushButton* button : {m_none, m_usual, m_allUsual})
        button->setAutoDefault(false); // Enter closes
    auto* line = rowOf({labelOf(tr("&New keys"), m_edit), {m_edit, 1}, m_none, m_usual, m_allUsual}, 6);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { showChosen(); });
    const auto told = [this](const std::optional<QString>& holder) {
        showChosen(holder ? tr("\u201c%1\u201d has these keys: take them from it first.").arg(*holder) : QString());
    };
    connect(m_edit, &QKeySequenceEdit::keySequenceChanged, this, [this, told](const QKeySequence& typed) {
        if (typed.isEmpty() || row() < 0)
            return;
        const QKeySequence first(typed[0]); // one press is a shortcut here, not the first of four
        m_edit->clear();
        told(m_keys.assign(row(), first));
    });
    connect(m_none, &QPushButton::clicked, this, [this, told] { told(m_keys.assign(row(), {})); });
    connect(m_usual, &QPushButton::clicked, this, [this, told] { told(m_keys.assignUsual(row())); });
    connect(m_allUsual, &QPushButton::clicked, this, [this] {
        m_keys.assignAllUsual();
        showChosen();
    });
    return holderOf(columnOf({{m_table, 1}, line, m_said}, 6, {9, 9, 9, 9}));
}

int KeysDialog::row() const
{
    return m_table->currentIndex().row();
}

void KeysDialog::showChosen(const QString& said)
{
    const bool chosen = row() >= 0;
    m_edit->setEnabled(chosen);
    m_none->setEnabled(chosen);
    m_usual->setEnabled(chosen && !m_keys.isUsual(row()));
    m_allUsual->setEnabled(!m_keys.chosen().isEmpty());
    changeRole(m_said, said.isEmpty() ? QStringLiteral("muted") : QStringLiteral("bad"));
    m_said->setText(said.isEmpty() ? tr("Press the keys that the chosen command shall have.") : said);
}

} // namespace fourfold::ui
