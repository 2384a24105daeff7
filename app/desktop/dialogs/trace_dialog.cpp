// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/trace_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"

#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTabBar>

namespace fourfold::ui {

namespace {
constexpr int kTogetherMilliseconds = 150;
constexpr quintptr kOwn = 1; // what was planned for the trace itself; no document has this address
enum { kParts, kCollectives };
} // namespace

TraceDialog::TraceDialog(PlanTabs& plans, QWidget* parent)
    : QDialog(parent)
    , m_plans(plans)
    , m_predicted(named(new TimelineView, "predictedKernels"))
    , m_measured(named(new TimelineView, "measuredKernels"))
    , m_beside(makeChooser("traceBeside", tr("Plan that the trace stands beside"), 20))
    , m_step(makeChooser("traceStep", tr("Step of the trace"), 6))
    , m_rank(makeChooser("traceRank", tr("Rank of the table"), 8))
    , m_find(named(new QLineEdit, "findKernel", tr("Find a kernel")))
    , m_remarks(named(makeWords("warning"), "traceRemarks"))
    , m_found(named(makeWords("muted"), "foundKernel"))
    , m_tabs(makeTabs("traceTables", tr("About the step"), {tr("Parts"), tr("Collectives")}))
    , m_table(new DataTable)
{
    setObjectName(QStringLiteral("traceDialog"));
    setWindowTitle(tr("Kernels of a step"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    setAttribute(Qt::WA_DeleteOnClose);
    m_predicted->setTitle(tr("Predicted"));
    m_measured->setTitle(tr("Measured"));
    m_predicted->setEmptyText(tr("No plan has an answer yet: its step appears here."));
    m_measured->setEmptyText(
        tr("Add a trace of torch.profiler (.json or .json.gz), one a rank, or drop it on the window."));
    m_predicted->linkWindow(*m_measured);
    QSplitter* both = makeSplitter(QStringLiteral("trace.rows"), Qt::Vertical, {m_predicted, m_measured}, {5, 6});
    both->setAccessibleName(tr("Kernels of a step"));
    for (TimelineView* view : {m_predicted, m_measured})
        view->setTogether(both);
    QSplitter* split = makeSplitter(QStringLiteral("trace.tables"), Qt::Vertical, {both, makeTables()}, {11, 4});
    for (QSplitter* rows : {both, split}) {
        rows->setHandleWidth(10);
        rows->setProperty("gap", true);
    }
    setLayout(columnOf({makeControls(), m_remarks, {split, 1}}, 8, {12, 12, 12, 12}));
    resizeDialog(this, 1180, 820);
    m_remarks->hide();
    m_later.setSingleShot(true);
    m_later.setInterval(kTogetherMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &TraceDialog::study);
    for (int i = 0; i < plans.count(); ++i)
        watch(i);
    connect(&plans, &PlanTabs::added, this, [this](int index) {
        watch(index);
        fillPlans();
    });
    for (const auto changed : {&PlanTabs::removed, &PlanTabs::titleChanged})
        connect(&plans, changed, this, &TraceDialog::fillPlans);
    fillPlans();
    fillSteps();
    study();
}

QWidget* TraceDialog::makeControls()
{
    QPushButton* add = makeButton(tr("Add traces\u2026"), "plain", "addTraces", tr("Traces of further ranks"));
    QPushButton* before = makeButton(tr("Previous"), "small", "previousKernel");
    QPushButton* next = makeButton(tr("Next"), "small", "nextKernel");
    m_find->setPlaceholderText(tr("Part of a kernel's name"));
    m_find->setMaximumWidth(px(220));
    for (QPushButton* button : {add, before, next})
        button->setAutoDefault(false);
    connect(add, &QPushButton::clicked, this, [this] {
        if (const auto files = askFiles(this); !files.empty())
            openFiles(files);
    });
    connect(before, &QPushButton::clicked, this, [this] { find(false); });
    connect(next, &QPushButton::clicked, this, [this] { find(true); });
    connect(m_find, &QLineEdit::returnPressed, this, [this] { find(true); });
    connect(m_find, &QLineEdit::textChanged, m_found, &QLabel::clear);
    connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, m_find,
        [this] { m_find->setFocus(Qt::ShortcutFocusReason); });
    connect(m_beside, &QComboBox::activated, this, [this] { m_later.start(); });
    connect(m_step, &QComboBox::activated, this, [this] { m_later.start(); });
    return holderOf(rowOf({labelOf(tr("Plan"), m_beside), m_beside, labelOf(tr("Step"), m_step), m_step, Item::gap(8),
        labelOf(tr("Find"), m_find), m_find, before, next, m_found, Item::spring(), add}));
}

QWidget* TraceDialog::makeTables()
{
    m_table->present(m_model, "traceTable", tr("Predicted and measured by part"));
    QPushButton* exports = makeButton(tr("Export\u2026"), "small", "exportTraceTable");
    exports->setAutoDefault(false);
    auto* menu = new QMenu(exports);
    addTableExports(*menu, this, tr("Parts of a step"), [this] { return m_model.table(); });
    exports->setMenu(menu);
    connect(m_tabs, &QTabBar::currentChanged, this, &TraceDialog::showTable);
    connect(m_rank, &QComboBox::currentIndexChanged, this, &TraceDialog::showTable);
    auto* bar = rowOf({m_tabs, Item::spring(), labelOf(tr("Rank"), m_rank), m_rank, exports}, 6);
    return makeFrame(columnOf({bar, {m_table, 1}}, 4, {6, 4, 6, 6}));
}

std::vector<std::filesystem::path> TraceDialog::askFiles(QWidget* parent)
{
    std::vector<std::filesystem::path> paths;
    for (const QString& file : QFileDialog::getOpenFileNames(
             parent, tr("Traces of a step"), {}, tr("Traces (*.json *.json.gz);;All files (*)")))
        paths.emplace_back(file.toStdString());
    return paths;
}

void TraceDialog::openFiles(const std::vector<std::filesystem::path>& files)
{
    // Those of several drops come one by one: each reading begins with what is not there yet.
    m_reading.insert(m_reading.end(), files.begin(), files.end());
    m_measured->setSubtitle(tr("Reading %1\u2026").arg(counted(double(m_reading.size()), tr("trace"))));
    m_reader.start([this, files = m_reading](const std::stop_token& stop) -> Background::Done {
        return [this, read = std::make_shared<const view::ReadTraces>(view::read_traces(files, stop))] {
            m_reading.clear();
            view::add_traces(m_traces, read->traces);
            fillSteps();
            study();
            for (const Problem& problem : read->problems)
                showProblem(this, tr("This trace cannot be shown"), problem);
        };
    });
}

void TraceDialog::showTrace(StepTrace trace, view::TraceBeside beside)
{
    m_own = std::move(beside);
    m_traces = {std::make_shared<const StepTrace>(std::move(trace))};
    fillPlans();
    m_beside->setCurrentIndex(0);
    fillSteps();
    study();
}

void TraceDialog::watch(int index)
{
    const PlanDocument& document = m_plans.document(index);
    connect(&document, &PlanDocument::predictionChanged, this, [this, &document] {
        if (m_beside->currentData().value<quintptr>() == reinterpret_cast<quintptr>(&document) && document.isAnswered())
            m_later.start();
    });
}

void TraceDialog::fillPlans()
{
    const QSignalBlocker blocker(m_beside);
    const bool isFirst = m_beside->count() == 0;
    const QVariant before = m_beside->currentData();
    m_beside->clear();
    if (m_own)
        m_beside->addItem(fromUtf8(m_own->name), QVariant::fromValue(kOwn));
    for (int i = 0; i < m_plans.count(); ++i) {
        const PlanDocument& document = m_plans.document(i);
        m_beside->addItem(document.title(), QVariant::fromValue(reinterpret_cast<quintptr>(&document)));
    }
    const int kept = isFirst ? m_plans.currentIndex() : m_beside->findData(before);
    m_beside->setCurrentIndex(std::max(0, kept));
    if (!isFirst && kept < 0)
        m_later.start(); // the plan is closed
}

void TraceDialog::fillSteps()
{
    const QSignalBlocker blocker(m_step);
    m_step->clear();
    for (const std::int64_t step : view::common_steps(m_traces))
        m_step->addItem(QString::number(step), QVariant::fromValue(qint64(step)));
    m_step->setCurrentIndex(m_step->count() - 1);
    m_step->setEnabled(m_step->count() > 1);
}

view::TraceBeside TraceDialog::chosen() const
{
    const auto address = m_beside->currentData().value<quintptr>();
    if (m_own && address == kOwn)
        return *m_own;
    for (int i = 0; i < m_plans.count(); ++i) {
        const PlanDocument& document = m_plans.document(i);
        if (reinterpret_cast<quintptr>(&document) == address)
            return {document.title().toStdString(), document.prediction(), {}};
    }
    return {};
}

void TraceDialog::study()
{
    m_later.stop();
    const std::int64_t step = m_step->currentIndex() < 0 ? -1 : m_step->currentData().toLongLong();
    m_studier.start([this, traces = m_traces, beside = chosen(), step](const std::stop_token&) -> Background::Done {
        auto studied = std::make_shared<Expected<view::TraceStudy>>(view::study_traces(traces, beside, step));
        return [this, studied] {
            if (*studied)
                showStudy(**studied);
            else
                showProblem(this, tr("This trace cannot be shown"), studied->error());
        };
    });
}

void TraceDialog::showStudy(view::TraceStudy& study)
{
    m_ranks = std::move(study.ranks);
    m_predicted->showTimeline(std::move(study.predicted), fromUtf8(study.predicted_words), study.length_s);
    m_measured->showTimeline(std::move(study.measured), fromUtf8(study.measured_words), study.length_s);
    QStringList remarks;
    for (const std::string& remark : study.remarks)
        remarks << fromUtf8(remark);
    m_remarks->setText(remarks.join(QLatin1Char('\n')));
    m_remarks->setVisible(!remarks.isEmpty());
    {
        const QSignalBlocker blocker(m_rank);
        const QString before = m_rank->currentText();
        m_rank->clear();
        for (const view::TraceStudy::Rank& rank : m_ranks)
            m_rank->addItem(rank.rank < 0 ? tr("all stages") : QString::number(rank.rank));
        m_rank->setCurrentIndex(std::max(0, m_rank->findText(before)));
        m_rank->setEnabled(m_rank->count() > 1);
    }
    m_tabs->setTabVisible(kCollectives, !m_ranks.empty() && !m_ranks.front().collectives.columns.empty());
    showTable();
}

void TraceDialog::showTable()
{
    const int index = m_rank->currentIndex();
    if (index < 0 || index >= static_cast<int>(m_ranks.size())) {
        m_model.show({});
        return;
    }
    const view::TraceStudy::Rank& rank = m_ranks[static_cast<std::size_t>(index)];
    m_model.show(m_tabs->currentIndex() == kCollectives ? rank.collectives : rank.parts);
    m_table->resizeColumnsToContents();
}

// In the trace first, else in the prediction.
void TraceDialog::find(bool forward)
{
    if (m_find->text().isEmpty())
        return;
    const bool found = m_measured->find(m_find->text(), forward) || m_predicted->find(m_find->text(), forward);
    m_found->setText(found ? QString() : tr("None is called so"));
}

} // namespace fourfold::ui
