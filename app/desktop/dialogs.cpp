// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs.h"

#include "app/desktop/icons.h"
#include "app/desktop/theme.h"
#include "app/models/text.h"
#include "runner/runs/run.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QGridLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
QString tr(const char* text)
{
    return QCoreApplication::translate("Dialogs", text);
}
} // namespace

void showProblem(QWidget* parent, const QString& title, const Problem& problem)
{
    QMessageBox box(QMessageBox::Warning, title, fromUtf8(problem.message), QMessageBox::Ok, parent);
    box.setObjectName(QStringLiteral("problem"));
    QStringList more;
    if (!problem.where.empty())
        more << tr("Where: %1").arg(fromUtf8(problem.where));
    if (!problem.hint.empty())
        more << tr("What to do: %1").arg(fromUtf8(problem.hint));
    box.setInformativeText(more.join(QLatin1Char('\n')));
    box.setTextInteractionFlags(Qt::TextSelectableByMouse);
    box.exec();
}

void showLongText(QWidget* parent, const QString& title, const QString& text)
{
    QDialog dialog(parent);
    dialog.setWindowTitle(title);
    dialog.resize(760, 480);
    auto* view = new QPlainTextEdit(text);
    view->setReadOnly(true);
    view->setLineWrapMode(QPlainTextEdit::NoWrap);
    view->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(&dialog);
    column->addWidget(view);
    column->addWidget(buttons);
    dialog.exec();
}

bool askHostKey(QWidget* parent, const HostKeyQuestion& question)
{
    QMessageBox box(QMessageBox::Question, tr("Unknown host"),
        tr("%1 was never seen before. Do you trust its key?").arg(fromUtf8(question.host)), QMessageBox::NoButton,
        parent);
    box.setObjectName(QStringLiteral("hostKey"));
    box.setInformativeText(tr("Type: %1\nFingerprint: %2\n\nCompare it with the one that the host's administrator "
                              "gives (ssh-keygen -l -f on the host). A trusted key is stored in Fourfold's own "
                              "known_hosts.")
                               .arg(fromUtf8(question.key_type), fromUtf8(question.fingerprint)));
    QPushButton* trust = box.addButton(tr("Trust this key"), QMessageBox::AcceptRole);
    QPushButton* refuse = box.addButton(tr("Do not connect"), QMessageBox::RejectRole);
    box.setDefaultButton(refuse);
    box.setEscapeButton(refuse);
    box.setTextInteractionFlags(Qt::TextSelectableByMouse);
    box.exec();
    return box.clickedButton() == trust;
}

SaveAnswer askToSave(QWidget* parent, const QString& planName)
{
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
        tr("Save the changes of \u201c%1\u201d?").arg(planName),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, parent);
    box.setObjectName(QStringLiteral("unsaved"));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save:
        return SaveAnswer::save;
    case QMessageBox::Discard:
        return SaveAnswer::discard;
    default:
        return SaveAnswer::cancel;
    }
}

bool askToStopRun(QWidget* parent)
{
    QMessageBox box(QMessageBox::Question, tr("A run is under way"),
        tr("Closing the window stops the run. Its steps so far stay in the history."), QMessageBox::NoButton, parent);
    box.setObjectName(QStringLiteral("stopRun"));
    QPushButton* stop = box.addButton(tr("Stop the run and close"), QMessageBox::AcceptRole);
    QPushButton* stay = box.addButton(tr("Keep it running"), QMessageBox::RejectRole);
    box.setDefaultButton(stay);
    box.setEscapeButton(stay);
    box.exec();
    return box.clickedButton() == stop;
}

void showShortcuts(QWidget* parent)
{
    struct Row {
        const char* keys;
        const char* what;
    };
    static constexpr Row rows[]{{"Ctrl+1, 2, 3", QT_TRANSLATE_NOOP("Dialogs", "Plan, Runs, History")},
        {"Ctrl+N, O, S", QT_TRANSLATE_NOOP("Dialogs", "New, open, save a plan")},
        {"Ctrl+Z, Ctrl+Shift+Z", QT_TRANSLATE_NOOP("Dialogs", "Undo, redo")},
        {"F5", QT_TRANSLATE_NOOP("Dialogs", "Go to the run assistant")},
        {"W S A D", QT_TRANSLATE_NOOP("Dialogs", "Timeline: zoom at the pointer, pan (by key position)")},
        {"Wheel, Shift+wheel", QT_TRANSLATE_NOOP("Dialogs", "Timeline: zoom at the pointer, pan")},
        {"Arrows", QT_TRANSLATE_NOOP("Dialogs", "Timeline: move between bars; memory: between stages")},
        {"Z, F, Backspace", QT_TRANSLATE_NOOP("Dialogs", "Timeline: to the selected bar, whole step, previous zoom")},
        {"/", QT_TRANSLATE_NOOP("Dialogs", "History: filter")}, {"?", QT_TRANSLATE_NOOP("Dialogs", "This list")}};
    QDialog dialog(parent);
    dialog.setWindowTitle(tr("Keyboard shortcuts"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(24);
    grid->setVerticalSpacing(8);
    int line = 0;
    for (const Row& row : rows) {
        auto* keys = new QLabel(QString::fromLatin1(row.keys));
        keys->setProperty("role", "heading");
        grid->addWidget(keys, line, 0);
        grid->addWidget(new QLabel(tr(row.what)), line++, 1);
    }
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(&dialog);
    column->setContentsMargins(20, 18, 20, 14);
    column->setSpacing(14);
    column->addLayout(grid);
    column->addWidget(buttons);
    dialog.exec();
}

void showAbout(QWidget* parent)
{
    QMessageBox box(QMessageBox::NoIcon, tr("About Fourfold"),
        tr("<h3>Fourfold %1</h3>Planner and cluster runner for 4D-parallel training of large language models.")
            .arg(QCoreApplication::applicationVersion()),
        QMessageBox::Close, parent);
    box.setInformativeText(tr("Free software under the GNU General Public License, version 3 or later. Qt %1.")
                               .arg(QString::fromLatin1(qVersion())));
    box.setIconPixmap(applicationIcon().pixmap(64, 64));
    box.exec();
}

} // namespace fourfold::ui
