// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/start_dialog.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "app/view/start/start.h"
#include "core/plan/fields.h"
#include "core/search/search.h"

#include <QComboBox>
#include <QCompleter>
#include <QFormLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QSpinBox>

namespace fourfold::ui {

StartDialog::StartDialog(const Presets& presets, const std::optional<ResolvedPlan>& open, QWidget* parent)
    : QDialog(parent)
    , m_presets(presets)
    , m_gpus(new QSpinBox)
    , m_extent(new QLineEdit)
    , m_said(named(makeWords("muted"), "startSaid"))
    , m_why(named(makeWords("normal"), "startReasons"))
    , m_choices(new QListWidget)
    , m_start(std::make_unique<view::Start>(presets, [this] {
        QMetaObject::invokeMethod(
            this, [this] { showAnswer(); }, Qt::QueuedConnection);
    }))
{
    setObjectName(QStringLiteral("startDialog"));
    setWindowTitle(tr("A plan from three answers"));
    const view::Start::Questions first = view::Start::first_questions(open);
    m_model = makePicker("startModel", tr("Model"), "models", first.model);
    m_cluster = makePicker("startCluster", tr("Cluster"), "clusters", first.cluster);
    named(m_gpus, "startGpus", tr("Number of GPUs"))->setRange(1, kMaxGpus);
    m_gpus->setValue(std::stoi(first.gpus));
    named(m_extent, "startExtent", tr("How much to train"))
        ->setPlaceholderText(tr("15T tokens or 30 days; empty: 20 tokens per parameter"));
    named(m_choices, "startChoices", tr("Plans that would do"))->setWordWrap(true);

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(px(14));
    form->setVerticalSpacing(px(8));
    form->addRow(tr("&Model"), m_model);
    form->addRow(tr("&GPUs"), m_gpus);
    form->addRow(tr("&Cluster"), m_cluster);
    form->addRow(tr("&Training"), m_extent);

    const DialogButtons buttons = acceptOrCancel(this, tr("Open this plan"), "startTake");
    m_take = buttons.accept;
    m_look = buttons.box->addButton(tr("Recommend"), QDialogButtonBox::ActionRole);
    named(m_look, "startLook");
    setLayout(columnOf({form, m_said, {m_choices, 1}, m_why, buttons.box}, 8, {14, 14, 14, 12}));
    resizeDialog(this, 720, 560);

    connect(m_look, &QPushButton::clicked, this, &StartDialog::ask);
    connect(m_model, &QComboBox::editTextChanged, this, &StartDialog::takeBack);
    connect(m_cluster, &QComboBox::editTextChanged, this, &StartDialog::takeBack);
    connect(m_gpus, &QSpinBox::valueChanged, this, &StartDialog::takeBack);
    connect(m_extent, &QLineEdit::textChanged, this, &StartDialog::takeBack);
    connect(m_choices, &QListWidget::itemActivated, this, &QDialog::accept);
    takeBack();
    m_model->setFocus();
    m_model->lineEdit()->selectAll();
}

StartDialog::~StartDialog() = default;

std::optional<Plan> StartDialog::plan() const
{
    const auto choices = m_start->choices();
    const int row = m_choices->currentRow();
    if (result() != QDialog::Accepted || row < 0 || row >= static_cast<int>(choices.size()))
        return {};
    return *choices[static_cast<std::size_t>(row)].plan;
}

// All presets by name to choose from, and room for what is none.
QComboBox* StartDialog::makePicker(
    const char* name, const QString& accessible, const char* kind, const std::string& text)
{
    auto* picker = named(new QComboBox, name, accessible);
    picker->setEditable(true);
    picker->setInsertPolicy(QComboBox::NoInsert);
    picker->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    picker->setMinimumContentsLength(24);
    picker->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    for (const std::string& id : m_presets.ids(kind))
        picker->addItem(fromUtf8(id));
    picker->completer()->setFilterMode(Qt::MatchContains);
    picker->completer()->setCompletionMode(QCompleter::PopupCompletion); // half a name may mean several
    picker->setEditText(fromUtf8(text));
    return picker;
}

void StartDialog::takeBack()
{
    m_start->take_back();
    m_choices->clear();
    m_why->clear();
    changeRole(m_said, QStringLiteral("muted"));
    m_said->setText(
        tr("A model is a preset, words of its name, a config.json, or a Hugging Face id that is in the "
           "local cache. Nothing is fetched. \u201cllama 405b on 512 dgx h100\u201d answers three at once."));
    m_take->setEnabled(false);
    m_look->setDefault(true);
}

void StartDialog::ask()
{
    const view::Start::Questions questions = view::Start::spread({m_model->currentText().toStdString(),
        std::to_string(m_gpus->value()), m_cluster->currentText().toStdString(), m_extent->text().toStdString()});
    m_model->setEditText(fromUtf8(questions.model));
    m_gpus->setValue(fromUtf8(questions.gpus).toInt()); // within its limits; what is beyond them is refused below
    m_cluster->setEditText(fromUtf8(questions.cluster));
    takeBack();
    const Expected<void> asked = m_start->ask(questions);
    changeRole(m_said, asked ? QStringLiteral("muted") : QStringLiteral("bad"));
    m_said->setText(asked ? tr("Looking through all layouts\u2026") : labelText(fromUtf8(asked.error().line())));
}

void StartDialog::showAnswer()
{
    if (!m_start->receive())
        return;
    if (m_start->problem()) {
        changeRole(m_said, QStringLiteral("bad"));
        m_said->setText(labelText(fromUtf8(m_start->problem()->line())));
        return;
    }
    for (const view::Start::Choice& choice : m_start->choices())
        m_choices->addItem(fromUtf8(choice.title + "\n" + choice.figures));
    m_choices->setCurrentRow(0);
    m_said->setText(tr("The first is recommended; the others are nearly as good, or need less memory."));
    QStringList why;
    for (const std::string& sentence : m_start->sentences())
        why << fromUtf8(sentence);
    m_why->setText(why.join(QLatin1Char('\n')));
    m_take->setEnabled(true);
    m_take->setDefault(true);
    m_take->setFocus();
}

} // namespace fourfold::ui
