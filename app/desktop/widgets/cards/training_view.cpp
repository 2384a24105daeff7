// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/cards/training_view.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/desktop/widgets/panels/value_edit.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/derivation.h"

#include <QEvent>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>

namespace fourfold::ui {

namespace {
constexpr int kExpectedColumn = 2;
constexpr int kBudgetFormWidth = 330, kBudgetFieldWidth = 130, kBudgetFormHeight = 100;
} // namespace

class TrainingView::Figures : public TableModel {
public:
    explicit Figures(const TrainingView& view)
        : m_view(view)
    {
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override
    {
        if (role != Qt::ToolTipRole)
            return TableModel::data(index, role);
        const std::optional<Explanation> tree = m_view.explanationOf(index.row(), index.column());
        return tree ? fromUtf8(view::explained_summary(*tree)) : QString();
    }

private:
    const TrainingView& m_view;
};

TrainingView::TrainingView(PlanDocument& document, QWidget* parent)
    : Card(tr("The whole training"), parent)
    , m_document(document)
    , m_model(std::make_unique<Figures>(*this))
    , m_table(new DataTable)
    , m_body(new QWidget(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setFocusProxy(m_table);
    setEmptyText(tr("The figures appear here as soon as the plan is valid."));
    m_table->present(*m_model, "wholeTraining", title());
    m_table->setWidths({110, 130, 130}); // what is left: the basis
    m_table->addRowAction(tr("Where it comes from\u2026"), Qt::Key_Return,
        [this] { open(m_table->currentIndex().row(), m_table->currentIndex().column()); });
    QHBoxLayout* parts = rowOf({makeForm(), {m_table, 1}}, 10);
    m_body->setLayout(parts);
    connect(m_table, &QAbstractItemView::activated, this,
        [this](const QModelIndex& index) { open(index.row(), index.column()); });
    connect(&document, &PlanDocument::planChanged, this, &TrainingView::showTraining);
    connect(&document, &PlanDocument::predictionChanged, this, &TrainingView::showTraining);
    showTraining();
}

TrainingView::~TrainingView() = default;

QWidget* TrainingView::makeForm()
{
    auto* grid = new QGridLayout;
    grid->setContentsMargins(0, 0, px(6), 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    int row = 0;
    // What is asked is the same for every plan; what stands there is shown later.
    for (const view::TrainingInput& input : view::training_inputs(m_document.plan(), ResolvedPlan())) {
        auto* field = named(new ValueEdit([this, path = input.path](const QString& text) { return take(path, text); }),
            input.path,
            input.unit[0] == '\0' ? fromUtf8(input.label)
                                  : QStringLiteral("%1 (%2)").arg(fromUtf8(input.label), fromUtf8(input.unit)));
        field->setHelp(fromUtf8(input.help));
        limitWidth(field, kBudgetFieldWidth);
        m_inputs.push_back(field);
        grid->addWidget(labelOf(fromUtf8(input.label), field), row, 0);
        grid->addWidget(field, row, 1);
        grid->addWidget(makeWords("muted", fromUtf8(input.unit)), row, 2);
        ++row;
    }
    grid->setRowStretch(row, 1);
    auto* form = new ScrollColumn(holderOf(grid));
    form->setProperty("gap", false);
    form->setLeastHeight(kBudgetFormHeight);
    fixWidth(form, kBudgetFormWidth);
    return form;
}

QString TrainingView::take(const char* path, const QString& text)
{
    const Expected<Json> value = view::training_value(path, text.toStdString());
    if (!value) {
        const QString why = fromUtf8(value.error().line());
        emit m_document.editRefused(why);
        return why;
    }
    m_document.setValue(path, *value, tr("Change %1").arg(QString::fromLatin1(path)), false);
    return {};
}

TrainingBudget TrainingView::budget() const
{
    return budget_of(m_document.plan(), m_document.prediction()->plan);
}

void TrainingView::showTraining()
{
    const std::optional<ResolvedPlan>& plan = m_document.lastResolved();
    if (plan) {
        const std::vector<view::TrainingInput> inputs = view::training_inputs(m_document.plan(), *plan);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            m_inputs[i]->showValue(fromUtf8(inputs[i].written), fromUtf8(inputs[i].otherwise));
    }
    m_figures.clear();
    if (m_document.prediction())
        m_figures = view::whole_training(*m_document.prediction(), budget());
    m_body->setVisible(plan.has_value());
    m_table->setVisible(!isEmpty());
    m_model->show(view::whole_training_table(m_figures));
    setSubtitle(isEmpty() ? QString() : fromUtf8(view::budget_line(budget())));
    setAccessibleDescription(fromUtf8(view::whole_training_line(m_figures)));
}

std::optional<Explanation> TrainingView::explanationOf(int row, int column) const
{
    if (!m_document.prediction() || row < 0 || row >= static_cast<int>(m_figures.size()))
        return {};
    const view::TrainingFigure& figure = m_figures[static_cast<std::size_t>(row)];
    const bool expected = column == kExpectedColumn && figure.expected_key[0] != '\0';
    Expected<Explanation> tree
        = explain_training(*m_document.prediction(), budget(), expected ? figure.expected_key : figure.key);
    return tree ? std::optional(*std::move(tree)) : std::nullopt;
}

void TrainingView::open(int row, int column)
{
    if (const std::optional<Explanation> tree = explanationOf(row, column))
        emit figureActivated(fromUtf8(m_figures[static_cast<std::size_t>(row)].title), *tree);
}

void TrainingView::place()
{
    m_body->setGeometry(bodyArea().adjusted(-px(4), 0, px(6), 0));
}

void TrainingView::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    place();
}

void TrainingView::changeEvent(QEvent* event)
{
    Card::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        place();
}

} // namespace fourfold::ui
