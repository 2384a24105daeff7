// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/fields_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"

#include <QCompleter>
#include <QLineEdit>

#include <algorithm>

namespace fourfold::ui {

FieldsDialog::FieldsDialog(PlanDocument& document, const std::string& path, QWidget* parent)
    : QDialog(parent)
    , m_document(document)
    , m_words(new QLineEdit)
    , m_table(new DataTable)
    , m_value(new QLineEdit)
    , m_set(makeButton(tr("Set"), "plain", "setField"))
    , m_usual(makeButton(tr("Default"), "plain", "fieldDefault", tr("Take it out of the plan's file")))
    , m_said(named(makeWords("muted"), "fieldSaid"))
{
    setObjectName(QStringLiteral("fieldsDialog"));
    setWindowTitle(tr("Every field of the plan"));
    named(m_words, "fieldWords", tr("Filter"))->setPlaceholderText(tr("Filter by words: name or meaning"));
    m_words->setClearButtonEnabled(true);
    m_table->present(m_model, "planFields", tr("Fields of the plan"));
    m_table->setWidths({230, 150, 150});
    named(m_value, "fieldValue", tr("Value of the chosen field"));
    QDialogButtonBox* buttons = closeButton(this);
    for (QPushButton* button : {m_set, m_usual, buttons->button(QDialogButtonBox::Close)})
        button->setAutoDefault(false); // Enter in the line sets the value, in the table it goes to the line
    auto* line = rowOf({labelOf(tr("&Value"), m_value), {m_value, 1}, m_set, m_usual}, 6);
    setLayout(columnOf({m_words, {m_table, 1}, line, m_said, buttons}, 6, {9, 9, 9, 9}));
    resizeDialog(this, 900, 560);
    connect(m_words, &QLineEdit::textChanged, this, &FieldsDialog::showFields);
    connect(m_value, &QLineEdit::returnPressed, this, [this] { set(m_value->text()); });
    connect(m_set, &QPushButton::clicked, this, [this] { set(m_value->text()); });
    connect(m_usual, &QPushButton::clicked, this, [this] { set({}); });
    connect(m_table, &QAbstractItemView::activated, this, [this] { m_value->setFocus(); });
    showFields();
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FieldsDialog::showChosen);
    const auto asked = std::ranges::find(m_fields, path, &view::AnyField::path);
    m_table->selectRow(asked == m_fields.end() ? 0 : static_cast<int>(asked - m_fields.begin()));
    (asked == m_fields.end() ? m_words : m_value)->setFocus();
    showChosen();
}

const view::AnyField* FieldsDialog::chosen() const
{
    const int row = m_table->currentIndex().row();
    return row < 0 || row >= static_cast<int>(m_fields.size()) ? nullptr : &m_fields[static_cast<std::size_t>(row)];
}

void FieldsDialog::showFields()
{
    const std::string before = chosen() ? chosen()->path : "";
    const QStringList words = m_words->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    const std::optional<ResolvedPlan>& resolved = m_document.resolved();
    m_fields = view::any_fields(m_document.plan(), resolved ? &*resolved : nullptr);
    std::erase_if(m_fields, [&](const view::AnyField& field) {
        const QString text = fromUtf8(field.path + ' ' + field.help);
        return !std::ranges::all_of(
            words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    });
    Table table{{{"field"}, {"written"}, {"otherwise", "holds"}, {"meaning"}}, {}};
    for (Column& column : table.columns)
        column.title = column.title.empty() ? column.key : column.title;
    for (const view::AnyField& field : m_fields)
        table.rows.push_back({field.path, text_cell(field.written), text_cell(field.otherwise), text_cell(field.help)});
    m_model.show(std::move(table));
    const auto again = std::ranges::find(m_fields, before, &view::AnyField::path);
    if (!m_fields.empty())
        m_table->selectRow(again == m_fields.end() ? 0 : static_cast<int>(again - m_fields.begin()));
    showChosen();
}

void FieldsDialog::showChosen()
{
    const view::AnyField* field = chosen();
    m_value->setEnabled(field);
    m_set->setEnabled(field);
    m_usual->setEnabled(field && !field->written.empty());
    changeRole(m_said, QStringLiteral("muted"));
    if (!field) {
        m_value->clear();
        m_said->setText(tr("No field has these words in its name or meaning."));
        return;
    }
    m_value->setText(fromUtf8(field->written));
    m_value->setPlaceholderText(fromUtf8(field->otherwise));
    m_value->setCompleter(field->choices.empty() ? nullptr : new QCompleter(fromUtf8(field->choices), m_value));
    const QString choices = fromUtf8(field->choices).join(QStringLiteral(", "));
    const QString help
        = choices.isEmpty() ? fromUtf8(field->help) : tr("%1 One of %2.").arg(fromUtf8(field->help), choices);
    m_said->setText(labelText(help.trimmed()));
    m_value->setAccessibleDescription(fromUtf8(field->path) + QStringLiteral(": ") + help);
}

void FieldsDialog::set(const QString& text)
{
    const view::AnyField* field = chosen();
    if (!field)
        return;
    const std::string path = field->path;
    Expected<Plan> changed = view::with_any_field(m_document.plan(), path, text.toStdString());
    if (!changed) {
        changeRole(m_said, QStringLiteral("bad"));
        m_said->setText(labelText(fromUtf8(changed.error().line())));
        return;
    }
    m_document.apply(tr("Change %1").arg(fromUtf8(path)), {}, std::move(changed));
    showFields();
}

} // namespace fourfold::ui
