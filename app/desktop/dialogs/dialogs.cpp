// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/dialogs.h"

#include "app/desktop/look/icons.h"
#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"
#include "app/models/shared/text.h"
#include "runner/ssh/questions.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace fourfold::ui {

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
    resizeDialog(&dialog, 760, 480);
    auto* view = new QPlainTextEdit(text);
    view->setReadOnly(true);
    view->setLineWrapMode(QPlainTextEdit::NoWrap);
    useFixedFont(view);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(&dialog);
    column->addWidget(view);
    column->addWidget(buttons);
    dialog.exec();
}

bool askHostKey(QWidget* parent, const HostKeyQuestion& question)
{
    QMessageBox box(QMessageBox::Question, tr("Unknown host"), {}, QMessageBox::NoButton, parent);
    box.setObjectName(QStringLiteral("hostKey"));
    // The fingerprint is there to be compared, so it stands in one line and in one width of letters.
    const auto shown = [](const std::string& text) { return fromUtf8(text).toHtmlEscaped(); };
    box.setTextFormat(Qt::RichText);
    box.setText(tr("%1 was never seen before. Do you trust its key?").arg(shown(question.host)));
    box.setInformativeText(
        tr("<p>Type: %1</p><p style=\"white-space:pre\"><tt>%2</tt></p><p>Compare it with the one that "
           "the host's administrator gives (ssh-keygen -l -f on the host). A trusted key is stored in "
           "Fourfold's own known_hosts.</p>")
            .arg(shown(question.key_type), shown(question.fingerprint)));
    // Its own words: foreign text in it is the fingerprint alone.
    if (auto* label = box.findChild<QLabel*>(QStringLiteral("qt_msgbox_informativelabel")))
        label->setTextFormat(Qt::RichText);
    QPushButton* trust = box.addButton(tr("Trust this key"), QMessageBox::AcceptRole);
    QPushButton* refuse = box.addButton(tr("Do not connect"), QMessageBox::RejectRole);
    box.setDefaultButton(refuse);
    box.setEscapeButton(refuse);
    box.setTextInteractionFlags(Qt::TextSelectableByMouse);
    box.exec();
    return box.clickedButton() == trust;
}

std::optional<std::string> askSecret(QWidget* parent, const SecretQuestion& question)
{
    QDialog dialog(parent);
    dialog.setObjectName(QStringLiteral("secret"));
    dialog.setWindowTitle(tr("%1 asks").arg(fromUtf8(question.host)));
    auto* prompt = new QLabel(fromUtf8(question.prompt));
    prompt->setWordWrap(true);
    auto* answer = new QLineEdit;
    answer->setEchoMode(question.echo ? QLineEdit::Normal : QLineEdit::Password);
    answer->setAccessibleName(fromUtf8(question.prompt));
    answer->setObjectName(QStringLiteral("secretAnswer"));
    prompt->setBuddy(answer);
    auto* kept = new QLabel(tr("Used for this login alone and stored nowhere."));
    kept->setProperty("role", "muted");
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(&dialog);
    column->setContentsMargins(20, 18, 20, 14);
    column->addWidget(prompt);
    column->addWidget(answer);
    column->addWidget(kept);
    column->addWidget(buttons);
    answer->setMinimumWidth(px(320));
    answer->setFocus();
    if (dialog.exec() != QDialog::Accepted)
        return {};
    return answer->text().toStdString();
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

ChangedFileAnswer askAboutChangedFile(QWidget* parent, const QString& file)
{
    QMessageBox box(QMessageBox::Warning, tr("The file was changed"),
        tr("\u201c%1\u201d was changed on disk since it was opened here.").arg(file), QMessageBox::Cancel, parent);
    box.setObjectName(QStringLiteral("changedFile"));
    const QPushButton* overwrite = box.addButton(tr("Save mine over it"), QMessageBox::DestructiveRole);
    const QPushButton* reload = box.addButton(tr("Reload it, drop mine"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == overwrite ? ChangedFileAnswer::overwrite
        : box.clickedButton() == reload     ? ChangedFileAnswer::reload
                                            : ChangedFileAnswer::cancel;
}

bool askToStop(QWidget* parent)
{
    QMessageBox box(QMessageBox::Question, tr("Stop the run?"),
        tr("It ends on all of its nodes. Its steps so far stay in the history."), QMessageBox::NoButton, parent);
    box.setObjectName(QStringLiteral("stopAsked"));
    const QPushButton* stop = box.addButton(tr("Stop"), QMessageBox::DestructiveRole);
    QPushButton* stay = box.addButton(tr("Let it run"), QMessageBox::RejectRole);
    box.setDefaultButton(stay);
    box.setEscapeButton(stay);
    box.exec();
    return box.clickedButton() == stop;
}

CloseAnswer askAboutRun(QWidget* parent, bool canLeave)
{
    QMessageBox box(QMessageBox::Question, tr("A run is under way"),
        canLeave ? tr("The run can go on without this window; the next start offers to follow it.")
                 : tr("Closing the window stops the run. Its steps so far stay in the history."),
        QMessageBox::NoButton, parent);
    box.setObjectName(QStringLiteral("stopRun"));
    QPushButton* stop = box.addButton(tr("Stop the run and close"), QMessageBox::DestructiveRole);
    QPushButton* leave = canLeave ? box.addButton(tr("Close, leave it running"), QMessageBox::AcceptRole) : nullptr;
    QPushButton* stay = box.addButton(tr("Do not close"), QMessageBox::RejectRole);
    box.setDefaultButton(stay);
    box.setEscapeButton(stay);
    box.exec();
    if (box.clickedButton() == stop)
        return CloseAnswer::stop;
    return leave && box.clickedButton() == leave ? CloseAnswer::leave : CloseAnswer::stay;
}

bool askToRestart(QWidget* parent, const QString& howFar)
{
    QMessageBox box(QMessageBox::Question, tr("Restart"),
        tr("The run is at %1. End it, and start the same from the beginning?").arg(howFar), QMessageBox::NoButton,
        parent);
    box.setObjectName(QStringLiteral("restartRun"));
    QPushButton* again = box.addButton(tr("End it and start again"), QMessageBox::AcceptRole);
    QPushButton* stay = box.addButton(tr("Let it run"), QMessageBox::RejectRole);
    box.setDefaultButton(stay);
    box.setEscapeButton(stay);
    box.exec();
    return box.clickedButton() == again;
}

void showAbout(QWidget* parent)
{
    QMessageBox box(QMessageBox::NoIcon, tr("About Fourfold"),
        tr("<h3>Fourfold %1</h3>Planner and cluster runner for 4D-parallel training of large language models.")
            .arg(QCoreApplication::applicationVersion()),
        QMessageBox::Close, parent);
    box.setTextFormat(Qt::RichText);
    box.setInformativeText(tr("Free software under the GNU General Public License, version 3 or later. Qt %1.")
                               .arg(QString::fromLatin1(qVersion())));
    box.setIconPixmap(applicationIcon().pixmap(px(64), px(64)));
    box.exec();
}

} // namespace fourfold::ui
