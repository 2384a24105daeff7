// SPDX-License-Identifier: GPL-3.0-or-later
// The few dialogs of the desktop.
#pragma once

#include "core/base/expected.h"

#include <QString>

#include <optional>
#include <string>

class QWidget;

namespace fourfold {
struct HostKeyQuestion;
struct SecretQuestion;
} // namespace fourfold

namespace fourfold::ui {

// For a label, whose lines break between words: a word of more than `longest` letters is cut in its middle, else it
// would widen the window.
QString labelText(const QString& text, int longest = 80);
// A problem in full: what, where, what to do.
void showProblem(QWidget* parent, const QString& title, const Problem& problem);
// Whether it went well; a Problem is shown.
template <class T>
bool succeeded(QWidget* parent, const QString& title, const Expected<T>& outcome)
{
    if (!outcome)
        showProblem(parent, title, outcome.error());
    return outcome.has_value();
}
// Text that is longer than a message box: fixed-width, can be copied.
void showLongText(QWidget* parent, const QString& title, const QString& text);
// True when the user trusts the key of a host that was never seen before.
bool askHostKey(QWidget* parent, const HostKeyQuestion& question);
// A passphrase or one-time code; nothing when the user declines. It is stored nowhere.
std::optional<std::string> askSecret(QWidget* parent, const SecretQuestion& question);

enum class SaveAnswer { save, discard, cancel };
SaveAnswer askToSave(QWidget* parent, const QString& planName);
// What becomes of a file that somebody else wrote since the plan was opened, when the plan is to be saved over it.
enum class ChangedFileAnswer { overwrite, reload, cancel };
ChangedFileAnswer askAboutChangedFile(QWidget* parent, const QString& file);
// True when the run is to end on all of its nodes.
bool askToStop(QWidget* parent);
// What becomes of the run that is under way when the window closes. `canLeave`: it may go on without the window.
enum class CloseAnswer { stop, leave, stay };
CloseAnswer askAboutRun(QWidget* parent, bool canLeave);
// True when a run that goes is to end for the same one to start; `howFar`: "step 12 of 200".
bool askToRestart(QWidget* parent, const QString& howFar);
void showAbout(QWidget* parent);

} // namespace fourfold::ui
