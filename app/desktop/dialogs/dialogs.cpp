// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/dialogs/dialogs.h"

#include "app/desktop/look/icons.h"
#include "app/desktop/look/theme.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/models/shared/text.h"
#include "runner/ssh/questions.h"

#include <QCoreApplication>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>

namespace fourfold::ui {

QString labelText(const QString& text, int longest)
{
    static const QRegularExpression words(QStringLiteral("\\S+"));
    QString shown = text;
    qsizetype moved = 0; // what is before has become shorter by so much
    for (QRegularExpressionMatchIterator at = words.globalMatch(text); at.hasNext();) {
        const QRegularExpressionMatch word = at.next();
        if (word.capturedLength() <= longest)
            continue;
        const QString cut = word.captured().left(longest / 2) + QChar(0x2026) + word.captured().right(longest / 2);
        shown.replace(word.capturedStart() - moved, word.capturedLength(), cut);
        moved += word.capturedLength() - cut.size();
    }
    return shown;
}

namespace {
// A message box breaks its lines between words and at the slashes of a path; a part that is longer than a line would be
// cut at its edge.
QString boxText(const std::string& text)
{
    QStringList parts = fromUtf8(text).split(QLatin1Char('/'));
    for (QString& part : parts)
        part = labelText(part);
    return parts.join(QLatin1Char('/'));
}
} // namespace

void showProblem(QWidget* parent, const QString& title, const Problem& problem)
{
    QMessageBox box(QMessageBox::Warning, title, boxText(problem.message), QMessageBox::Ok, parent);
    box.setObjectName(QStringLiteral("problem"));
    QStringList more;
    if (!problem.where.empty())
        more << tr("Where: %1").arg(boxText(problem.where));
    if (!problem.hint.empty())
        more << tr("What to do: %1").arg(boxText(problem.hint));
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
    dialog.setLayout(columnOf({view, closeButton(&dialog)}, 6, {9, 9, 9, 9}));
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
    auto* prompt = makeWords("normal", fromUtf8(question.prompt));
    auto* answer = named(new QLineEdit, "secretAnswer", prompt->text());
    answer->setEchoMode(question.echo ? QLineEdit::Normal : QLineEdit::Password);
    limitWidth(answer, 320);
    prompt->setBuddy(answer);
    auto* kept = makeWords("muted",
        (question.again ? tr("That was not right.") + QLatin1Char(' ') : QString())
            + tr("Used for this login alone and stored nowhere."));
    dialog.setLayout(columnOf({prompt, answer, kept, acceptOrCancel(&dialog, tr("OK")).box}, 6, {20, 18, 20, 14}));
    answer->setFocus();
    if (dialog.exec() != QDialog::Accepted)
        return {};
    return answer->text().toStdString();
}

namespace {
// The place of the answer in `answers`; what Escape and Enter give stands last, without words: Cancel.
std::size_t ask(QWidget* parent, const char* name, const QString& title, const QString& text,
    const QList<std::pair<QString, QMessageBox::ButtonRole>>& answers, QMessageBox::Icon icon = QMessageBox::Question)
{
    QMessageBox box(icon, title, text, QMessageBox::NoButton, parent);
    box.setObjectName(QString::fromLatin1(name));
    std::vector<QPushButton*> buttons;
    for (const auto& [words, role] : answers)
        buttons.push_back(words.isEmpty() ? box.addButton(QMessageBox::Cancel) : box.addButton(words, role));
    box.setDefaultButton(buttons.back());
    box.setEscapeButton(buttons.back());
    box.exec();
    return static_cast<std::size_t>(std::find(buttons.begin(), buttons.end(), box.clickedButton()) - buttons.begin());
}
} // namespace

SaveAnswer askToSave(QWidget* parent, const QString& planName)
{
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"),
        tr("Save the changes of \u201c%1\u201d?").arg(planName),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, parent);
    box.setObjectName(QStringLiteral("unsaved"));
    box.setDefaultButton(QMessageBox::Save);
    const int answer = box.exec();
    return answer == QMessageBox::Save   ? SaveAnswer::save
        : answer == QMessageBox::Discard ? SaveAnswer::discard
                                         : SaveAnswer::cancel;
}

ChangedFileAnswer askAboutChangedFile(QWidget* parent, const QString& file)
{
    constexpr ChangedFileAnswer answers[]{
        ChangedFileAnswer::overwrite, ChangedFileAnswer::reload, ChangedFileAnswer::cancel};
    return answers[ask(parent, "changedFile", tr("The file was changed"),
        tr("\u201c%1\u201d was changed on disk since it was opened here.").arg(file),
        {{tr("Save mine over it"), QMessageBox::DestructiveRole},
            {tr("Reload it, drop mine"), QMessageBox::DestructiveRole}, {{}, QMessageBox::RejectRole}},
        QMessageBox::Warning)];
}

bool askToStop(QWidget* parent)
{
    return ask(parent, "stopAsked", tr("Stop the run?"),
               tr("It ends on all of its nodes. Its steps so far stay in the history."),
               {{tr("Stop"), QMessageBox::DestructiveRole}, {tr("Let it run"), QMessageBox::RejectRole}})
        == 0;
}

CloseAnswer askAboutRun(QWidget* parent, bool canLeave)
{
    const QString text = canLeave ? tr("The run can go on without this window; the next start offers to follow it.")
                                  : tr("Closing the window stops the run. Its steps so far stay in the history.");
    QList<std::pair<QString, QMessageBox::ButtonRole>> answers{
        {tr("Stop the run and close"), QMessageBox::DestructiveRole}};
    if (canLeave)
        answers.append({tr("Close, leave it running"), QMessageBox::AcceptRole});
    answers.append({tr("Do not close"), QMessageBox::RejectRole});
    const std::size_t answer = ask(parent, "stopRun", tr("A run is under way"), text, answers);
    return answer == 0 ? CloseAnswer::stop : canLeave && answer == 1 ? CloseAnswer::leave : CloseAnswer::stay;
}

bool askToRestart(QWidget* parent, const QString& howFar)
{
    return ask(parent, "restartRun", tr("Restart"),
               tr("The run is at %1. End it, and start the same from the beginning?").arg(howFar),
               {{tr("End it and start again"), QMessageBox::AcceptRole}, {tr("Let it run"), QMessageBox::RejectRole}})
        == 0;
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
