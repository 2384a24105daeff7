// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/derivation_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "core/calibration/user/evidence.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTreeView>

#include <functional>

namespace fourfold::ui {

namespace {
// Rows as high as those of the tables.
class RoomyDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        return QStyledItemDelegate::sizeHint(option, index).expandedTo({0, option.fontMetrics.height() + px(8)});
    }
};
} // namespace

DerivationDialog::DerivationDialog(const QString& title, Explanation explanation, const QStringList& path,
    QWidget* parent, const std::optional<Explanation>& sure)
    : QDialog(parent)
    , m_tree(new QTreeView)
    , m_detail(makeWords("muted"))
{
    setObjectName(QStringLiteral("derivation"));
    setWindowTitle(tr("Derivation of %1").arg(title));
    resizeDialog(this, 940, 560);
    m_model.show(std::move(explanation), sure);
    m_tree->setModel(&m_model);
    m_tree->setAccessibleName(windowTitle());
    m_tree->setAlternatingRowColors(true);
    m_tree->setUniformRowHeights(true);
    m_tree->setItemDelegate(new RoomyDelegate(m_tree));
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->header()->setStretchLastSection(true);
    m_tree->setColumnWidth(ExplanationModel::quantity, px(290));
    m_tree->setColumnWidth(ExplanationModel::value, px(110));
    m_tree->setColumnWidth(ExplanationModel::how, px(380));
    m_detail->setMinimumHeight(px(54));
    m_detail->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    QDialogButtonBox* buttons = closeButton(this);
    buttons->button(QDialogButtonBox::Close)->setDefault(true); // Enter came here from a figure and goes back
    QPushButton* copyButton = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
    copyButton->setAutoDefault(false);
    connect(copyButton, &QPushButton::clicked, this, &DerivationDialog::copy);
    setLayout(columnOf({{m_tree, 1}, m_detail, buttons}, 6, {9, 9, 9, 9}));
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& at) {
        const QString how = at.siblingAtColumn(ExplanationModel::how).data().toString();
        const QString source = at.siblingAtColumn(ExplanationModel::source).data().toString();
        m_detail->setText(source.isEmpty() ? how : tr("%1\nSource: %2").arg(how, source));
    });
    if (sure)
        m_tree->expand(m_model.index(1, 0));
    open(path);
    m_tree->setFocus();
}

void DerivationDialog::open(const QStringList& path)
{
    QModelIndex at = m_model.index(0, 0);
    m_tree->expand(at);
    for (const QString& label : path) {
        QModelIndex next;
        for (int row = 0; row < m_model.rowCount(at) && !next.isValid(); ++row) {
            const QModelIndex child = m_model.index(row, 0, at);
            if (child.data().toString().compare(label, Qt::CaseInsensitive) == 0)
                next = child;
        }
        if (!next.isValid())
            break;
        m_tree->expand(next);
        at = next;
    }
    m_tree->setCurrentIndex(at);
    m_tree->scrollTo(at);
}

void DerivationDialog::copy()
{
    QString text;
    const std::function<void(const QModelIndex&, int)> write = [&](const QModelIndex& parent, int depth) {
        for (int row = 0; row < m_model.rowCount(parent); ++row) {
            QStringList cells;
            for (int column = 0; column < ExplanationModel::columns; ++column)
                cells << spreadsheetCell(m_model.index(row, column, parent).data().toString());
            text += QString(2 * depth, QLatin1Char(' ')) + cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
            write(m_model.index(row, 0, parent), depth + 1);
        }
    };
    write({}, 0);
    QApplication::clipboard()->setText(text);
}

void showDerivation(QWidget* parent, const QString& title, Explanation explanation, const QStringList& path,
    const std::optional<Explanation>& sure)
{
    auto* dialog = new DerivationDialog(title, std::move(explanation), path, parent, sure);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void showDerivation(QWidget* parent, const QString& title, const Prediction& prediction, const std::string& figure,
    const QStringList& path)
{
    if (prediction.operations.empty() && prediction.plan.gpus > 0) {
        const Prediction anew = predict_with_evidence(prediction.plan);
        if (!anew.operations.empty()) {
            showDerivation(parent, DerivationDialog::tr("%1, as predicted today").arg(title), anew, figure, path);
            return;
        }
    }
    Expected<Explanation> explanation = explain(prediction, figure);
    if (!explanation)
        return; // not a figure of the engine: there is nothing to open
    std::optional<Explanation> sure;
    if (prediction.step_time_s)
        sure = *explain(prediction, "interval");
    showDerivation(parent, title, *std::move(explanation), path, sure);
}

} // namespace fourfold::ui
