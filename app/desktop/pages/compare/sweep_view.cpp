// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/sweep_view.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/compare/grid_around.h"
#include "app/view/plan/facts.h"
#include "core/calibration/score_card.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/plan_edit.h"
#include "core/report/views/grid_table.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSignalBlocker>

namespace fourfold::ui {

namespace {
constexpr int kFewestJobs = 3; // of a job worth a map of its own
const QString kOtherFile = QStringLiteral("file");

} // namespace

SweepView::SweepView(PlanTabs& plans, QWidget* parent)
    : QWidget(parent)
    , m_plans(plans)
    , m_table(makeChooser("sweepTable", tr("Layouts and measurements"), 14))
    , m_job(makeChooser("sweepJob", tr("Job"), 14))
    , m_value(makeChooser("sweepValue", tr("Figure"), 14))
    , m_show(makeChooser("sweepShow", tr("Shown"), 14))
    , m_summary(named(makeWords("muted"), "sweepSummary"))
    , m_problem(makeWords("bad"))
    , m_apply(makeButton(tr("Apply to plan"), "plain", "sweepApply",
          tr("Put the layout of the chosen cell into the open plan (Enter); it can be undone")))
    , m_compare(makeButton(tr("Put side by side"), "plain", "sweepCompare"))
    , m_map(new HeatMap(tr("Layouts and GPUs")))
{
    auto* scroll = new QScrollArea; // a published table has more rows than a window
    scroll->setWidget(m_map);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    setLayout(columnOf({makeControls(), {holderOf(columnOf({scroll}, 0, {12, 12, 12, 12})), 1}}));
    m_map->setEmptyText(tr("The layouts of the plan or of a table appear here."));

    connect(m_table, &QComboBox::activated, this, &SweepView::chooseTable);
    connect(m_job, &QComboBox::currentIndexChanged, this, &SweepView::start);
    connect(m_value, &QComboBox::currentIndexChanged, this, &SweepView::showGrid);
    connect(m_show, &QComboBox::currentIndexChanged, this, &SweepView::showGrid);
    connect(m_map, &HeatMap::selectionChanged, this, &SweepView::showState);
    connect(m_map, &HeatMap::activated, this, &SweepView::apply);
    auto* deriveKey = new QShortcut(QKeySequence(Qt::Key_D), m_map);
    deriveKey->setContext(Qt::WidgetShortcut);
    connect(deriveKey, &QShortcut::activated, this, &SweepView::derive);
    connect(m_apply, &QPushButton::clicked, this, &SweepView::apply);
    connect(m_compare, &QPushButton::clicked, this, [this] {
        if (const std::optional<ResolvedPlan> plan = chosenPlan())
            emit compareRequested({*plan});
    });
    connect(&plans, &PlanTabs::currentChanged, this, &SweepView::start);
    connect(&plans, &PlanTabs::edited, this, [this] {
        if (m_job->currentIndex() <= 0)
            start();
    });
    fillJobs();
    showState();
}

QWidget* SweepView::makeControls()
{
    m_table->addItem(tr("Layouts around the open plan"), QString());
    for (const std::filesystem::path& table : published_tables())
        m_table->addItem(fromUtf8(table.stem().string()), exactText(table.string()));
    m_table->insertSeparator(m_table->count());
    m_table->addItem(tr("CSV file\u2026"), kOtherFile);
    for (const GridValue value : {GridValue::tps_per_gpu, GridValue::tflops_per_gpu, GridValue::mfu,
             GridValue::memory_gib, GridValue::step_time_s})
        m_value->addItem(gridValueLabel(value), static_cast<int>(value));
    for (const auto& [show, name] : {std::pair(HeatShow::predicted, tr("Predicted")),
             std::pair(HeatShow::measured, tr("Measured")), std::pair(HeatShow::error, tr("Error"))})
        m_show->addItem(name, static_cast<int>(show));
    QPushButton* exports = makeButton(tr("Export\u2026"), "plain");
    auto* menu = new QMenu(exports);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] { // with the table that is on show now
        menu->clear();
        addExports(*menu, *m_map);
    });
    exports->setMenu(menu);
    QGridLayout* grid = controlsGrid();
    int column = 0;
    for (const auto& [name, box] : {std::pair(tr("Table"), m_table), std::pair(tr("Job"), m_job),
             std::pair(tr("Figure"), m_value), std::pair(tr("Show"), m_show)}) {
        grid->addWidget(labelOf(name, box), 0, column++);
        grid->setColumnStretch(column, box == m_job ? 3 : 2);
        grid->addWidget(box, 0, column++);
    }
    grid->addLayout(rowOf({{m_summary, 1}, m_apply, m_compare, exports}), 1, 0, 1, column);
    grid->addWidget(m_problem, 2, 0, 1, column);
    return makePanel(grid);
}

void SweepView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_grid.layouts.empty())
        start();
}

void SweepView::chooseTable(int index)
{
    const QString data = m_table->itemData(index).toString();
    if (data == kOtherFile) {
        const QString csv = QFileDialog::getOpenFileName(this, tr("Table of measurements"), {}, tr("CSV (*.csv)"));
        if (csv.isEmpty() || !useTable(csv.toStdString()))
            m_table->setCurrentIndex(0);
    } else if (data.isEmpty()) {
        m_tableRead.reset();
        fillJobs();
        start();
    } else {
        useTable(data.toStdString());
    }
}

bool SweepView::useTable(const std::filesystem::path& csv)
{
    Expected<MeasuredTable> table = view::read_table(csv, m_plans.presets());
    if (!succeeded(this, tr("The table cannot be shown"), table))
        return false;
    if (const int known = m_table->findData(exactText(csv.string())); known >= 0) {
        m_table->setCurrentIndex(known);
    } else {
        m_table->insertItem(1, fromUtf8(csv.stem().string()), exactText(csv.string()));
        m_table->setCurrentIndex(1);
    }
    m_tableRead = *std::move(table);
    fillJobs();
    if (m_show->currentData().toInt() == static_cast<int>(HeatShow::predicted))
        setShow(HeatShow::error);
    start();
    return true;
}

void SweepView::setShow(HeatShow show)
{
    m_show->setCurrentIndex(m_show->findData(static_cast<int>(show)));
}

// The open plan first where the table measured it, else the job with the most rows.
void SweepView::fillJobs()
{
    m_jobs = m_tableRead ? view::jobs_of(*m_tableRead) : std::vector<view::TableJob>();
    std::erase_if(m_jobs, [](const view::TableJob& job) { return job.rows < kFewestJobs; });
    const QSignalBlocker blocker(m_job);
    m_job->clear();
    m_job->addItem(tr("The open plan"));
    for (const view::TableJob& job : m_jobs)
        m_job->addItem(tr("%1 (%2)").arg(fromUtf8(job.name), counted(job.rows, tr("row"))));
    const std::optional<ResolvedPlan>& plan = m_plans.current().resolved();
    const bool measuredPlan = m_tableRead && plan && MeasuredGrid(*m_tableRead, *plan).size() > 0;
    m_job->setCurrentIndex(m_tableRead && !measuredPlan && !m_jobs.empty() ? 1 : 0);
    m_show->setEnabled(m_tableRead.has_value());
    if (!m_tableRead)
        setShow(HeatShow::predicted);
}

const ResolvedPlan* SweepView::base() const
{
    const int job = m_job->currentIndex() - 1;
    if (job >= 0 && job < static_cast<int>(m_jobs.size()))
        return &m_jobs[static_cast<std::size_t>(job)].plan;
    const std::optional<ResolvedPlan>& plan = m_plans.current().resolved();
    return plan ? &*plan : nullptr;
}

void SweepView::start()
{
    const ResolvedPlan* plan = base();
    if (!isVisible() || !plan)
        return;
    std::shared_ptr<MeasuredGrid> measured;
    std::vector<GridLayout> layouts = view::layouts_around(*plan);
    std::vector<int> gpus = view::gpus_around(*plan);
    m_problem->clear();
    if (m_tableRead) {
        measured = std::make_shared<MeasuredGrid>(*m_tableRead, *plan);
        if (measured->size() > 0) {
            layouts = measured->layouts();
            gpus = measured->gpus();
        } else {
            m_problem->setText(tr("The table measured nothing with this plan's model, GPU, sequence length, batch, "
                                  "precision and sharding: choose one of its jobs."));
            measured.reset();
        }
    }
    m_problem->setVisible(!m_problem->text().isEmpty());
    m_map->setStale(true);
    m_work.start([this, plan = *plan, layouts = std::move(layouts), gpus = std::move(gpus),
                     measured = std::move(measured)](const std::stop_token& stop) -> Background::Done {
        LayoutGrid grid = sweep_layouts(plan, layouts, gpus, 0, {}, stop, predicting_beside_own_runs(plan));
        return [this, plan, grid = std::move(grid), measured]() mutable {
            m_base = plan;
            m_grid = std::move(grid);
            m_measured = measured;
            m_map->setStale(false);
            showGrid();
            emit ready();
        };
    });
}

void SweepView::showGrid()
{
    if (m_grid.layouts.empty())
        return;
    const auto value = static_cast<GridValue>(m_value->currentData().toInt());
    const auto show = static_cast<HeatShow>(m_show->currentData().toInt());
    m_map->setTitle(tr("%1 on %2").arg(fromUtf8(m_base.model.name), fromUtf8(m_base.cluster.name)));
    m_map->show(heatOf(m_grid, value, m_measured.get(), m_measured ? show : HeatShow::predicted),
        grid_table(m_grid, value, m_measured.get(), TableFormat::csv));
    QString said;
    if (m_measured)
        said = fromUtf8(agreement_text(m_grid, *m_measured, value)).trimmed();
    m_summary->setText(said);
    m_summary->setToolTip(said);
    showState();
}

QString SweepView::summary() const
{
    return m_summary->text();
}

std::optional<ResolvedPlan> SweepView::chosenPlan() const
{
    const auto place = m_map->selected();
    if (!place || m_grid.layouts.empty())
        return {};
    Expected<ResolvedPlan> plan = plan_of_cell(m_base, m_grid.layouts[static_cast<std::size_t>(place->first)],
        m_grid.gpus[static_cast<std::size_t>(place->second)]);
    if (!plan || !check(*plan).empty())
        return {};
    return *std::move(plan);
}

void SweepView::showState()
{
    const bool chosen = chosenPlan().has_value();
    m_compare->setEnabled(chosen);
    m_apply->setEnabled(chosen);
}

void SweepView::derive()
{
    const std::optional<ResolvedPlan> plan = chosenPlan();
    if (!plan)
        return;
    const auto value = static_cast<GridValue>(m_value->currentData().toInt());
    showDerivation(this, tr("%1 of %2").arg(m_value->currentText(), fromUtf8(view::layout_line(plan->layout))),
        predict_with_evidence(*plan), std::string(name(value)));
}

void SweepView::apply()
{
    const std::optional<ResolvedPlan> plan = chosenPlan();
    if (!plan) {
        emit message(tr("This layout cannot be placed"));
        return;
    }
    PlanDocument& document = m_plans.current();
    document.apply(tr("Apply layout"), {}, with_layout(document.plan(), *plan));
    emit message(tr("%1 on %2 is in the plan; undo takes it back")
                     .arg(fromUtf8(view::layout_line(plan->layout)), fromUtf8(view::gpus_fact(*plan))));
    emit applied();
}

} // namespace fourfold::ui
