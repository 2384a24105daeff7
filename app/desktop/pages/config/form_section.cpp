// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/config/form_section.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/config/reason_row.h"
#include "app/desktop/widgets/panels/invalid_frame.h"
#include "app/desktop/widgets/text/elided_combo_box.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/plan/choices.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kLabelWidth = 104;
}

FormSection::FormSection(const QString& title, PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_grid(new QGridLayout)
    , m_fact(makeNote())
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(5);
    auto* header = new QHBoxLayout;
    auto* heading = new QLabel(title);
    useFont(heading, 0.25, QFont::DemiBold);
    header->addWidget(heading);
    header->addStretch();
    header->addWidget(m_fact);
    column->addLayout(header);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(10);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnMinimumWidth(0, kLabelWidth);
    m_grid->setColumnStretch(1, 1);
    column->addLayout(m_grid);
    setAccessibleName(title);
}

void FormSection::setFact(const QString& fact)
{
    m_fact->setText(fact);
}

QLabel* FormSection::makeNote()
{
    auto* note = new ElidedLabel;
    useFont(note, -0.5);
    note->setProperty("role", "muted");
    return note;
}

QLabel* FormSection::addNote()
{
    QLabel* note = makeNote();
    m_grid->addWidget(note, m_grid->rowCount(), 1);
    return note;
}

FormSection::Row FormSection::addRow(const QString& label, const std::vector<Field>& fields, QWidget* note)
{
    const int row = m_grid->rowCount();
    auto* name = new QLabel(label);
    name->setBuddy(fields.front().widget);
    m_grid->addWidget(name, row, 0);
    auto* line = new QWidget;
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(note ? 7 : 4);
    for (const Field& field : fields) {
        field.widget->setFocusPolicy(Qt::StrongFocus); // not by the wheel
        field.widget->installEventFilter(this);
        layout->addWidget(field.widget, note || qobject_cast<QPushButton*>(field.widget) ? 0 : 1);
    }
    if (note)
        layout->addWidget(note, 1);
    m_grid->addWidget(line, row, 1);

    int reasonRow = row;
    for (const Field& field : fields) {
        if (field.path.empty())
            continue;
        m_frames[field.path] = new InvalidFrame(field.widget);
        auto* reason = new ReasonRow;
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

QSpinBox* FormSection::addSpinBox(const std::string& path, const QString& name, QSpinBox* box)
{
    box->setAccessibleName(name);
    box->setObjectName(fromUtf8(path));
    box->setGroupSeparatorShown(true);
    limitWidth(box, 64);
    connect(box, &QSpinBox::valueChanged, this,
        [this, path, name](int value) { m_document.setValue(path, value, tr("Change %1").arg(name)); });
    return box;
}

QComboBox* FormSection::makeComboBox(const QString& name)
{
    auto* box = new ElidedComboBox;
    box->setAccessibleName(name);
    return box;
}

QComboBox* FormSection::makeChoice(const std::string& path, const QString& name)
{
    QComboBox* box = makeComboBox(name);
    box->setObjectName(fromUtf8(path));
    for (const Choice& choice : choicesOf(path))
        box->addItem(choice.label, fromUtf8(choice.spelling));
    connect(box, &QComboBox::activated, this, [this, box, path, name] {
        m_document.setValue(path, box->currentData().toString().toStdString(), tr("Change %1").arg(name), false);
    });
    return box;
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

void FormSection::showValue(QSpinBox* box, int value)
{
    const QSignalBlocker blocker(box);
    if (box->value() != value)
        box->setValue(value);
}

void FormSection::showChoice(QComboBox* box, const QString& data)
{
    const QSignalBlocker blocker(box);
    box->setCurrentIndex(box->findData(data));
}

} // namespace fourfold::ui
