// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/config/form_section.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/plan/config/reason_row.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/degree_spin_box.h"
#include "app/desktop/widgets/panels/invalid_frame.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/shared/text.h"
#include "app/view/plan/choices.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kLabelWidth = 104;
}

FormSection::FormSection(const QString& title, PlanDocument& document, const TextOf& fact, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_grid(new QGridLayout)
{
    auto* heading = new QLabel(title);
    useFont(heading, 0.25, QFont::DemiBold);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnMinimumWidth(0, kLabelWidth);
    m_grid->setColumnStretch(1, 1);
    setLayout(columnOf({rowOf({heading, Item::spring(), noteOf(fact)}, 6), m_grid}, 5, {12, 8, 12, 8}));
    setAccessibleName(title);
}

void FormSection::showPlan()
{
    const std::optional<ResolvedPlan>& plan = m_document.lastResolved();
    if (!plan) {
        showNothing();
        return;
    }
    m_showing = true;
    if (std::exchange(m_isEmpty, false)) { // a number that is the plan's own by chance is written again
        for (QSpinBox* box : findChildren<QSpinBox*>())
            box->setValue(box->value());
        for (QDoubleSpinBox* box : findChildren<QDoubleSpinBox*>())
            box->setValue(box->value());
    }
    for (const auto& show : m_shows)
        show(*plan);
    m_showing = false;
}

// A file may name a model that nobody has: its fields have no values then, and show none of their own.
void FormSection::showNothing()
{
    m_isEmpty = true;
    for (QComboBox* box : findChildren<QComboBox*>())
        box->setCurrentIndex(-1);
    for (QAbstractSpinBox* box : findChildren<QAbstractSpinBox*>())
        box->clear();
}

QLabel* FormSection::noteOf(const TextOf& text)
{
    auto* note = new ElidedLabel;
    useFont(note, -0.5);
    note->setProperty("role", "muted");
    follow([note, text](const ResolvedPlan& plan) { note->setText(text(plan)); });
    return note;
}

void FormSection::addNote(const TextOf& note)
{
    m_grid->addWidget(noteOf(note), m_grid->rowCount(), 1);
}

void FormSection::shows(QSpinBox* box, const Of<int>& value)
{
    box->setGroupSeparatorShown(true);
    limitWidth(box, 64);
    follow([box, value](const ResolvedPlan& plan) {
        const QSignalBlocker blocker(box);
        if (box->value() != value(plan))
            box->setValue(value(plan));
    });
}

DegreeSpinBox* FormSection::degreeBox(const std::string& path, const QString& name, const Of<int>& value)
{
    auto* box = named(new DegreeSpinBox, path.c_str(), name);
    shows(box, value);
    connect(box, &QSpinBox::valueChanged, this,
        [this, path, name](int typed) { m_document.setValue(path, typed, tr("Change %1").arg(name)); });
    return box;
}

QComboBox* FormSection::presetBox(PresetModel::Kind kind, const char* objectName, const QString& name, const TextOf& id,
    const TextOf& ownName, const std::function<void(const std::string& id)>& choose)
{
    QComboBox* box = makeChooser(objectName, name);
    auto* presets = new PresetModel(m_document.presets(), kind, this);
    box->setModel(presets);
    connect(box, &QComboBox::activated, this, [box, choose] {
        if (const QString chosen = box->currentData(PresetModel::IdRole).toString(); !chosen.isEmpty())
            choose(chosen.toStdString());
    });
    follow([box, presets, id, ownName](const ResolvedPlan& plan) {
        const QString shown = id(plan);
        presets->lookAgainFor(shown);
        const bool own = shown.isEmpty() || presets->rowOf(shown) < 0;
        presets->setCustom(own ? tr("Own: %1").arg(ownName(plan)) : QString());
        box->setCurrentIndex(presets->rowOf(own ? QString() : shown));
    });
    return box;
}

FormSection::Row FormSection::addChoice(
    const QString& label, const std::string& path, const QString& name, const Of<std::string>& spelling)
{
    QComboBox* box = makeChooser(path.c_str(), name);
    for (const view::Choice& choice : view::choices_of(path))
        box->addItem(fromUtf8(choice.label), fromUtf8(choice.spelling));
    connect(box, &QComboBox::activated, this, [this, box, path, name] {
        m_document.setValue(path, box->currentData().toString().toStdString(), tr("Change %1").arg(name), false);
    });
    follow(
        [box, spelling](const ResolvedPlan& plan) { box->setCurrentIndex(box->findData(fromUtf8(spelling(plan)))); });
    return addRow(label, {{box, path}});
}

FormSection::Row FormSection::addToggle(
    const QString& label, const QString& words, const std::string& path, const QString& name, const Of<bool>& value)
{
    auto* box = named(new QCheckBox(words), path.c_str(), name);
    connect(box, &QCheckBox::clicked, this,
        [this, path, name](bool on) { m_document.setValue(path, on, tr("Change %1").arg(name), false); });
    follow([box, value](const ResolvedPlan& plan) { box->setChecked(value(plan)); });
    return addRow(label, {{box, path}});
}

FormSection::Row FormSection::addRow(const QString& label, const std::vector<Field>& fields, const TextOf& note)
{
    const int row = m_grid->rowCount();
    QLabel* name = labelOf(label, fields.front().widget);
    QHBoxLayout* places = rowOf({}, note ? 7 : 4);
    for (const Field& field : fields) {
        field.widget->setFocusPolicy(Qt::StrongFocus); // not by the wheel
        field.widget->installEventFilter(this);
        places->addWidget(field.widget, note || qobject_cast<QPushButton*>(field.widget) ? 0 : 1);
    }
    if (note)
        places->addWidget(noteOf(note), 1);
    QWidget* line = holderOf(places);
    m_grid->addWidget(name, row, 0);
    m_grid->addWidget(line, row, 1);
    int reasonRow = row;
    for (const Field& field : fields) {
        if (field.path.empty())
            continue;
        m_frames[field.path] = new InvalidFrame(field.widget);
        auto* reason = new ReasonRow(*field.widget);
        reason->setObjectName(QStringLiteral("reason.") + fromUtf8(field.path));
        m_reasons[field.path] = reason;
        m_grid->addWidget(reason, ++reasonRow, 0, 1, 2);
        connect(reason, &ReasonRow::useRequested, this, [this, path = field.path](const Json& value) {
            m_document.setValue(path, value, tr("Use nearest valid value"), false);
        });
    }
    return {name, line};
}

void FormSection::showRow(const Row& row, bool visible)
{
    for (QWidget* part : row)
        part->setVisible(visible);
}

int FormSection::takeReasons(std::vector<Reason>& reasons)
{
    int taken = 0;
    for (const auto& [path, row] : m_reasons) {
        const auto found
            = std::find_if(reasons.begin(), reasons.end(), [&path = path](const Reason& r) { return r.field == path; });
        const bool has = found != reasons.end();
        m_frames.at(path)->setInvalid(has);
        row->show(has ? &*found : nullptr);
        if (!has)
            continue;
        // A field can break several rules at once; the first names the nearest value that satisfies all.
        taken += static_cast<int>(std::erase_if(reasons, [&path = path](const Reason& r) { return r.field == path; }));
    }
    return taken;
}

bool FormSection::eventFilter(QObject* watched, QEvent* event)
{
    const auto* field = qobject_cast<QWidget*>(watched);
    if (event->type() == QEvent::Wheel && field && !field->hasFocus()) {
        event->ignore(); // to the scroll area above
        return true;
    }
    // Ctrl+Z takes back a change of the plan, also from the field that made it.
    if (event->type() == QEvent::ShortcutOverride && qobject_cast<const QAbstractSpinBox*>(watched)) {
        const auto* key = static_cast<const QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace fourfold::ui
