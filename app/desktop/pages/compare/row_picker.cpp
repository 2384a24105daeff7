// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/row_picker.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/plan/facts.h"

#include <QDialogButtonBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

RowPicker::RowPicker(const MeasuredTable& table, QWidget* parent)
    : QDialog(parent)
    , m_list(new QListWidget)
{
    setObjectName(QStringLiteral("rowPicker"));
    setWindowTitle(tr("Rows of %1").arg(fromUtf8(table.name)));
    resizeDialog(this, 880, 480);
    auto* words = new QLineEdit;
    words->setPlaceholderText(tr("Filter by words: model, GPUs, layout"));
    words->setAccessibleName(tr("Filter"));
    words->setClearButtonEnabled(true);
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setSpacing(px(2));
    m_list->setAccessibleName(tr("Measured rows"));
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const MeasuredRow& row = table.rows[i];
        if (!row.ran() || row.plan.gpus == 0)
            continue; // nothing to compare with
        auto* item = new QListWidgetItem(
            tr("%1  %2, %3 x %4, %5, micro-batch %6: %7 tokens/s per GPU")
                .arg(fromUtf8(row.row), fromUtf8(row.plan.model.name), grouped(row.plan.gpus),
                    fromUtf8(row.plan.cluster.gpu.name), fromUtf8(view::layout_line(row.plan.layout)),
                    grouped(double(row.plan.training.micro_batch)),
                    row.tps_per_gpu ? grouped(*row.tps_per_gpu, 1) : tr("?")));
        item->setData(Qt::UserRole, QVariant::fromValue<qulonglong>(i));
        m_list->addItem(item);
    }
    const auto [buttons, take] = acceptOrCancel(this, tr("Compare"));
    QPushButton* whole = buttons->addButton(tr("Whole table as a series"), QDialogButtonBox::ActionRole);
    named(whole, "wholeTable")
        ->setToolTip(tr("The best measured throughput over the number of GPUs, in the scaling chart"));
    connect(whole, &QPushButton::clicked, this, [this] { done(kWholeTable); });
    take->setEnabled(false);
    connect(m_list, &QListWidget::itemSelectionChanged, this,
        [this, take = take] { take->setEnabled(!m_list->selectedItems().isEmpty()); });
    connect(m_list, &QListWidget::itemDoubleClicked, this, &QDialog::accept);
    connect(words, &QLineEdit::textChanged, this, &RowPicker::filter);
    setLayout(columnOf({words, {m_list, 1}, buttons}, 6, {9, 9, 9, 9}));
    words->setFocus();
}

void RowPicker::filter(const QString& text)
{
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem* item = m_list->item(row);
        const bool has = std::all_of(words.begin(), words.end(),
            [&](const QString& word) { return item->text().contains(word, Qt::CaseInsensitive); });
        item->setHidden(!has);
        if (!has)
            item->setSelected(false);
    }
}

std::vector<std::size_t> RowPicker::chosen() const
{
    std::vector<std::size_t> rows;
    for (const QListWidgetItem* item : m_list->selectedItems())
        rows.push_back(item->data(Qt::UserRole).toULongLong());
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace fourfold::ui
