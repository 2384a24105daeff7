// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/window_fields.h"

#include "app/desktop/dialogs/fields_dialog.h"
#include "app/desktop/main_window.h"
#include "app/models/shared/text.h"

#include <QPointer>

#include <algorithm>

namespace fourfold::ui {

void askFields(MainWindow& window, const std::string& path)
{
    FieldsDialog(window.document(), path, &window).exec();
}

std::vector<Command> fieldCommands(MainWindow& window, const std::vector<Command>& offered)
{
    std::vector<Command> commands;
    for (const view::AnyField& field : view::any_fields(window.document().plan(), nullptr)) {
        const auto* control = window.findChild<QWidget*>(fromUtf8(field.path));
        const auto isIt = [control](const Command& command) {
            return command.text.compare(control->accessibleName(), Qt::CaseInsensitive) == 0;
        };
        if (control && std::ranges::any_of(offered, isIt))
            continue;
        const QString meaning = fromUtf8(field.help);
        commands.push_back(
            {meaning.isEmpty() ? fromUtf8(field.path) : QStringLiteral("%1: %2").arg(fromUtf8(field.path), meaning),
                tr("Field of the plan"), {}, [held = QPointer<MainWindow>(&window), path = field.path] {
                    if (held)
                        askFields(*held, path);
                }});
    }
    return commands;
}

} // namespace fourfold::ui
