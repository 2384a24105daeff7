// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/run_form.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/desktop/widgets/panels/value_edit.h"
#include "app/models/shared/text.h"
#include "app/view/plan/any_field.h"
#include "app/view/plan/data_files.h"
#include "app/view/plan/facts.h"
#include "core/plan/fields.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

namespace fourfold::ui {

namespace {
constexpr int kFormWidth = 340;
constexpr int kLongestWord = 40; // letters that it has room for
constexpr const char* kData = "run.data";
const QString kLocal = QStringLiteral("local");
const QString kHosts = QStringLiteral("hosts"); // the entry that opens the host list

} // namespace

RunForm::RunForm(PlanDocument& document, RunController& controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_targets(document.presets(), PresetModel::Kind::targets)
    , m_target(makeChooser("target", tr("Target")))
    , m_hosts(new QLineEdit)
    , m_steps(new QSpinBox)
    , m_data(new ValueEdit([this](const QString& text) { return takeData(text); }))
    , m_rehearsesFirst(new QCheckBox(tr("Rehearse before it starts")))
    , m_plan(makeWords("heading"))
    , m_layout(makeWords("muted"))
    , m_expected(makeWords("muted"))
    , m_message(named(makeWords("muted"), "message"))
    , m_start(makeButton(tr("Start run"), "primary", "start"))
    , m_stop(makeButton(tr("Stop"), "plain", "stop", tr("End the run on all of its nodes")))
    , m_detach(makeButton(tr("Stop following"), "plain", "detach",
          tr("The run goes on on its nodes; History catches up with it again")))
    , m_preview(makeButton(tr("Show what it does\u2026"), "plain", "preview"))
    , m_check(makeButton(tr("Check nodes"), "plain", "checkNodes",
          tr("Look at every node of the target and at the network between them; nothing is run")))
    , m_sweep(makeButton(tr("Measure a table\u2026"), "plain", "measureTable",
          tr("Run many layouts of this plan one after the other and fill a table with what they reach")))
    , m_restart(makeButton(
          tr("Restart"), "plain", "restart", tr("End the last run if it still goes, and start the same again")))
    , m_rehearse(makeButton(tr("Rehearse"), "plain", "rehearse",
          tr("Let the trainer play every rank on this computer first: does it fit, does no rank wait for ever")))
    , m_find(makeButton(tr("Find a cluster\u2026"), "plain", "findCluster",
          tr("From the name of a host or a login to its nodes, GPUs, links and partitions, saved as a target")))
    , m_queue(makeButton(tr("Add to queue"), "plain", "queueRun",
          tr("Start it by itself when its hosts are free and its turn has come, whether or not this window is open")))
    , m_chooseData(makeButton(tr("Choose\u2026"), "small", "chooseData", tr("Token files on this computer")))
{
    fixWidth(this, kFormWidth);
    usePanelStyle(this);
    auto* scroll = new ScrollColumn(makePanel(makeFields()));
    scroll->setProperty("gap", false);
    scroll->keepRoomOfBar();
    setLayout(columnOf({panelTitle(tr("Run this plan")), {scroll, 1}}));
    setDocument(document);
    connect(&controller, &RunController::workChanged, this, &RunForm::refresh);
    connect(m_target, &QComboBox::currentIndexChanged, this, &RunForm::refresh);
    connect(m_target, &QComboBox::activated, this, [this] { // by hand
        if (m_hosts->isVisible())
            m_hosts->setFocus();
    });
    connect(m_hosts, &QLineEdit::textChanged, this, &RunForm::refresh);
    connect(m_steps, &QSpinBox::valueChanged, this, [this] {
        m_stepsEdited = true;
        refresh();
    });
    connect(m_rehearsesFirst, &QCheckBox::toggled, this, &RunForm::refresh);
    connect(m_start, &QPushButton::clicked, this, &RunForm::start);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        const bool isRun = m_controller.work() != RunController::Work::check; // a look at nodes loses nothing
        if (isRun && !askToStop(this))
            return;
        if (!m_controller.isRunning())
            return; // it ended while the question stood
        emit stopRequested();
        showState();
    });
    connect(m_detach, &QPushButton::clicked, &controller, &RunController::detach);
    connect(m_preview, &QPushButton::clicked, this, &RunForm::showPreview);
    connect(m_check, &QPushButton::clicked, this, &RunForm::check);
    connect(m_sweep, &QPushButton::clicked, this, [this] { emit sweepRequested(m_setup); });
    connect(m_restart, &QPushButton::clicked, this, &RunForm::restartRequested);
    connect(m_find, &QPushButton::clicked, this, &RunForm::findRequested);
    connect(m_queue, &QPushButton::clicked, this, [this] {
        refresh();
        if (m_setup.request)
            emit queueRequested(m_setup);
    });
    connect(m_rehearse, &QPushButton::clicked, this, [this] {
        if (m_document->isValid())
            emit rehearsalRequested(*m_document->resolved());
    });
    connect(m_chooseData, &QPushButton::clicked, this, &RunForm::chooseData);
    refresh();
}

void RunForm::setDocument(PlanDocument& document)
{
    if (m_document == &document)
        return;
    disconnect(m_planConnection);
    m_document = &document;
    m_stepsEdited = false;
    m_planConnection = connect(&document, &PlanDocument::planChanged, this, &RunForm::refresh);
    refresh();
}

QLayout* RunForm::makeFields()
{
    m_target->addItem(tr("This computer"), kLocal);
    for (int row = 0; row < m_targets.rowCount(); ++row) {
        const QModelIndex at = m_targets.index(row);
        const QString id = at.data(PresetModel::IdRole).toString();
        if (id != kLocal)
            m_target->addItem(at.data().toString(), id);
    }
    m_target->addItem(tr("SSH hosts\u2026"), kHosts);
    named(m_hosts, "hosts", tr("SSH hosts, separated by commas"))->setPlaceholderText(tr("user@host1, host2:2222"));
    named(m_steps, "steps", tr("Steps"))->setRange(1, 100'000'000);
    m_steps->setGroupSeparatorShown(true);
    m_rehearsesFirst->setObjectName(QStringLiteral("rehearsesFirst"));
    m_rehearsesFirst->setChecked(true);
    m_restart->setEnabled(false);
    auto* grid = new QGridLayout;
    const int margin = 12; // where the scroll bar comes its room is the margin
    grid->setContentsMargins(isRightToLeft() ? 0 : margin, margin, isRightToLeft() ? margin : 0, margin);
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(7);
    grid->setColumnMinimumWidth(0, 92);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (QLabel* line : {m_plan, m_layout})
        grid->addWidget(line, row++, 0, 1, 2);
    grid->setRowMinimumHeight(row++, 6);
    const auto add = [&](const QString& label, QWidget* field) {
        grid->addWidget(labelOf(label, field), row, 0);
        grid->addWidget(field, row++, 1);
    };
    add(tr("Steps"), m_steps);
    named(m_data, kData, tr("Token files to train on"));
    m_data->setHelp(
        tr("Files of token ids (.bin, .npy, .safetensors) or of text (.txt), separated by commas; they start "
           "at the plan's folder. How they are mixed: Edit, Every field of the plan"));
    grid->addWidget(labelOf(tr("Data"), m_data), row, 0);
    grid->addLayout(rowOf({{m_data, 1}, m_chooseData}, 4), row++, 1);
    grid->addWidget(m_rehearsesFirst, row++, 1);
    add(tr("Target"), m_target);
    grid->addWidget(m_hosts, row++, 1);
    // A button must not move away from under the pointer: the room of the hosts is kept, what is said of the target is
    // the last.
    QSizePolicy kept = m_hosts->sizePolicy();
    kept.setRetainSizeWhenHidden(true);
    m_hosts->setSizePolicy(kept);
    grid->setRowMinimumHeight(row++, 6);
    grid->addLayout(rowOf({{m_start, 1}, m_rehearse, m_stop}), row++, 0, 1, 2);
    auto* more = new QGridLayout;
    more->setSpacing(8);
    more->addWidget(m_check, 0, 0);
    more->addWidget(m_restart, 0, 1);
    more->addWidget(m_preview, 1, 0);
    more->addWidget(m_sweep, 1, 1);
    more->addWidget(m_queue, 2, 0);
    more->addWidget(m_find, 2, 1);
    more->addWidget(m_detach, 3, 0, 1, 2);
    grid->addLayout(more, row++, 0, 1, 2);
    for (QLabel* line : {m_expected, m_message})
        grid->addWidget(line, row++, 0, 1, 2);
    grid->setRowStretch(row, 1); // what is left is below: no row is stretched, and none moves when the last one grows
    return grid;
}

QString RunForm::target() const
{
    const QString id = m_target->currentData().toString();
    return id == kHosts ? m_hosts->text().remove(QLatin1Char(' ')) : id;
}

QString RunForm::planName() const
{
    const std::optional<ResolvedPlan>& plan = m_document->lastResolved();
    return plan ? fromUtf8(plan->name) : m_document->title();
}

void RunForm::showEvent(QShowEvent* event)
{
    refresh();
    QWidget::showEvent(event);
}

void RunForm::refresh()
{
    m_hosts->ensurePolished(); // its height is the same hidden and shown
    m_hosts->setVisible(m_target->currentData().toString() == kHosts);
    if (!isVisible())
        return; // every edit of the plan comes by here
    std::optional<int> steps;
    if (m_stepsEdited)
        steps = m_steps->value();
    m_setup = view::prepare_run(m_document->plan(), m_document->presets(), target().toStdString(), steps);
    if (!m_rehearsesFirst->isChecked())
        view::leave_out_rehearsal(m_setup);
    if (!m_stepsEdited && m_setup.steps > 0) {
        const QSignalBlocker blocker(m_steps);
        m_steps->setValue(m_setup.steps);
    }
    m_data->showValue(fromUtf8(view::data_text(value_at(m_document->plan().document, kData))), tr("none"));
    const std::optional<ResolvedPlan>& plan = m_document->lastResolved();
    m_plan->setText(labelText(planName(), kLongestWord));
    m_layout->setText(plan ? labelText(QStringLiteral("%1\n%2 on %3")
                                           .arg(fromUtf8(view::layout_line(plan->layout)), fromUtf8(plan->model.name),
                                               fromUtf8(view::gpus_fact(*plan))),
                          kLongestWord)
                           : QString());
    // What cannot run here is predicted all the same, of the software that was planned for.
    const std::shared_ptr<const Prediction>& planned = m_document->prediction();
    const view::RunExpectation& expected = m_setup.expectation;
    const auto predicted = [](const QString& words, double tps, double step) {
        return words + tr(": %1 tokens/s per GPU, %2 per step").arg(throughputText(tps), duration(step));
    };
    const bool isOfAnother = planned && planned->plan.stack.id != view::kTrainerStack;
    const QString own = isOfAnother ? tr("Predicted of the bundled trainer") : tr("Predicted");
    m_expected->setText(expected.tps_per_gpu  ? predicted(own, *expected.tps_per_gpu, expected.step_time_s.value_or(0))
            : planned && planned->tps_per_gpu ? predicted(tr("Predicted of %1").arg(fromUtf8(planned->plan.stack.name)),
                  *planned->tps_per_gpu, planned->step_time_s.value_or(0))
                                              : tr("Predicted: %1").arg(unknownText()));
    showState();
}

QString RunForm::takeData(const QString& text)
{
    Expected<Plan> changed = view::with_any_field(m_document->plan(), kData, text.toStdString());
    if (!changed)
        return fromUtf8(changed.error().line());
    m_document->apply(tr("Change token files"), {}, std::move(changed));
    return {};
}

// Besides those that the plan has: a mixture is chosen from several folders.
void RunForm::chooseData()
{
    const Plan& plan = m_document->plan();
    const QStringList files = QFileDialog::getOpenFileNames(this, tr("Token files to train on"),
        fromUtf8(std::filesystem::path(plan.where).parent_path().string()),
        tr("Token files (*.bin *.npy *.safetensors *.txt);;All files (*)"));
    if (files.isEmpty())
        return;
    Json list = value_at(plan.document, kData);
    if (!list.is_array()) // not written, or not as it should be
        list = Json::array();
    for (const QString& file : files)
        list.push_back({{"path", view::data_name(plan, file.toStdString())}});
    if (const QString problem = takeData(fromUtf8(list.dump())); !problem.isEmpty())
        showProblem(this, tr("This cannot be trained on"), {ProblemCode::bad_input, problem.toStdString(), "", ""});
}

bool RunForm::canStart() const
{
    return m_setup.request.has_value() && !m_controller.isRunning();
}

void RunForm::showState()
{
    const bool running = m_controller.isRunning();
    const QWidget* focused = QApplication::focusWidget();
    const bool hadFocus = focused && isAncestorOf(focused);
    m_start->setEnabled(canStart());
    const bool checking = running && m_controller.work() == RunController::Work::check;
    m_start->setText(checking ? tr("Checking\u2026") : running ? tr("Running\u2026") : tr("Start run"));
    m_start->setToolTip(refusal());
    m_stop->setEnabled(running && !m_controller.isStopping());
    m_detach->setVisible(running && m_controller.isFollowing());
    m_detach->setEnabled(!m_controller.isStopping());
    m_stop->setText(m_controller.isStopping() ? tr("Stopping\u2026") : tr("Stop"));
    m_preview->setEnabled(m_setup.request.has_value());
    m_queue->setEnabled(m_setup.request.has_value());
    m_rehearse->setEnabled(m_document->isValid()); // also what no target here could hold
    m_check->setEnabled(!running && !target().isEmpty());
    m_sweep->setEnabled(canStart());
    const bool sweeping = running && m_controller.work() == RunController::Work::sweep;
    m_restart->setEnabled(m_canRestart && !m_controller.isStopping() && !checking && !sweeping);
    // Else the focus goes on to the next button by itself, and a second press of Space would stop what was started.
    if (hadFocus && !focused->isEnabled())
        m_preview->setFocus();
    const bool refused = !running && !m_setup.refusal.empty();
    changeRole(m_message, refused ? QStringLiteral("bad") : QStringLiteral("muted"));
    m_message->setText(labelText(refused ? tr("Cannot run: %1").arg(refusal()) : fromUtf8(m_setup.note), kLongestWord));
    m_message->setVisible(!m_message->text().isEmpty());
}

void RunForm::start()
{
    refresh();
    if (canStart())
        emit startRequested(m_setup, planName());
}

void RunForm::setTarget(const QString& target)
{
    const int index = m_target->findData(target);
    if (index < 0)
        m_hosts->setText(target);
    m_target->setCurrentIndex(index >= 0 ? index : m_target->findData(kHosts));
}

void RunForm::addTarget(const QString& id)
{
    if (m_target->findData(id) < 0)
        m_target->insertItem(m_target->findData(kHosts), id, id);
    setTarget(id);
}

void RunForm::setTrainer(const std::filesystem::path& trainer, const std::filesystem::path& history)
{
    m_trainer = trainer;
    m_history = history;
}

void RunForm::setCanRestart(bool can)
{
    m_canRestart = can;
    showState();
}

const ResolvedPlan* RunForm::plan() const
{
    return m_setup.request ? &m_setup.request->plan : nullptr;
}

// Of the target alone: the nodes can be looked at before the plan is right.
void RunForm::check()
{
    const Expected<Target> where = load_target(target().toStdString());
    if (where)
        emit checkRequested(*where, m_hosts->isHidden() ? m_target->currentText() : target());
    else
        showProblem(this, tr("This target cannot be looked at"), where.error());
}

void RunForm::showPreview()
{
    if (!m_setup.request)
        return;
    RunRequest request = *m_setup.request;
    request.trainer = m_trainer;
    request.history_file = m_history;
    const Expected<LaunchPreview> what = preview(request);
    if (what)
        showLongText(this, tr("What this run does"), fromUtf8(what->text));
    else
        showProblem(this, tr("This run cannot start"), what.error());
}

} // namespace fourfold::ui
