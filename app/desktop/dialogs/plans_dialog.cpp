// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/plans_dialog.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "app/view/plan/plans_overview.h"

#include <QDialogButtonBox>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kTogether = 50; // milliseconds
} // namespace

PlansDialog::PlansDialog(PlanTabs& plans, QWidget* parent)
    : QDialog(parent)
    , m_plans(plans)
    , m_table(new DataTable)
{
    setObjectName(QStringLiteral("plansDialog"));
    setWindowTitle(tr("Open plans"));
    m_table->present(m_model, "openPlans", tr("Open plans"));
    QDialogButtonBox* buttons = closeButton(this);
    m_show = buttons->addButton(tr("Show plan"), QDialogButtonBox::ActionRole);
    m_close = buttons->addButton(tr("Close plan"), QDialogButtonBox::ActionRole);
    named(m_show, "showChosenPlan")->setDefault(true);
    named(m_close, "closeChosenPlan")->setAutoDefault(false);
    setLayout(columnOf({{m_table, 1}, buttons}, 8, {9, 9, 9, 9}));
    resizeDialog(this, 1080, 320);
    const auto chosen = [this](void (PlansDialog::*tell)(int)) {
        if (const int row = m_table->currentIndex().row(); row >= 0)
            emit(this->*tell)(row);
    };
    const auto show = [chosen] { chosen(&PlansDialog::planChosen); };
    const auto close = [chosen] { chosen(&PlansDialog::closeRequested); };
    m_table->addRowAction(m_show->text(), Qt::Key_Return, show);
    m_table->addRowAction(m_close->text(), Qt::Key_Delete, close);
    connect(m_table, &QAbstractItemView::activated, this, show);
    connect(m_table, &DataTable::deletePressed, this, close);
    connect(m_show, &QPushButton::clicked, this, show);
    connect(m_close, &QPushButton::clicked, this, close);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &PlansDialog::showState);
    m_later.setSingleShot(true);
    m_later.setInterval(kTogether);
    connect(&m_later, &QTimer::timeout, this, &PlansDialog::showPlans);
    const auto later = [this] { m_later.start(); };
    for (int i = 0; i < plans.count(); ++i)
        watch(i);
    connect(&plans, &PlanTabs::added, this, [this](int index) {
        watch(index);
        m_later.start();
    });
    connect(&plans, &PlanTabs::removed, this, &PlansDialog::showPlans); // at once: rows are indices
    connect(&plans, &PlanTabs::moved, this, &PlansDialog::showPlans);
    connect(&plans, &PlanTabs::currentChanged, this, later);
    connect(&plans, &PlanTabs::titleChanged, this, later);
    showPlans();
    m_table->selectRow(plans.currentIndex());
}

void PlansDialog::watch(int index)
{
    const PlanDocument& document = m_plans.document(index);
    for (const auto changed : {&PlanDocument::predictionChanged, &PlanDocument::planChanged})
        connect(&document, changed, &m_later, qOverload<>(&QTimer::start));
}

void PlansDialog::showPlans()
{
    std::vector<view::OpenPlan> open;
    for (int i = 0; i < m_plans.count(); ++i) {
        const PlanDocument& document = m_plans.document(i);
        view::OpenPlan plan = view::open_plan(document.state());
        plan.prediction = document.isAnswered() ? document.prediction().get() : nullptr;
        plan.is_current = i == m_plans.currentIndex();
        plan.is_unsaved = document.isDirty();
        open.push_back(std::move(plan));
    }
    const int row = m_table->currentIndex().row();
    m_model.show(view::plans_table(view::plans_overview(open)));
    m_table->selectRow(std::clamp(row, 0, m_plans.count() - 1));
    showState();
}

void PlansDialog::showState()
{
    const bool chosen = m_table->currentIndex().isValid();
    m_show->setEnabled(chosen);
    m_close->setEnabled(chosen);
}

} // namespace fourfold::ui
