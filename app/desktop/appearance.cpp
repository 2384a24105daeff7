// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/appearance.h"

#include "app/desktop/look/app_style.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_accessible.h"
#include "app/desktop/widgets/panels/announcer.h"
#include "app/desktop/widgets/panels/chooser_accessible.h"
#include "app/desktop/widgets/panels/stack_accessible.h"
#include "app/desktop/widgets/text/choice_names.h"
#include "app/desktop/widgets/text/cut_text_tips.h"

#include <QApplication>
#include <QLocale>
#include <QToolTip>
#include <QVariant>

#include <clocale>

namespace fourfold::ui {

namespace {
// Lives on the application: the palette is ours after the first applyTheme() and cannot be asked any more.
constexpr const char* kSystemIsDark = "fourfoldSystemIsDark";
} // namespace

QString spelling(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::light:
        return QStringLiteral("light");
    case ThemeChoice::dark:
        return QStringLiteral("dark");
    case ThemeChoice::system:
        break;
    }
    return QStringLiteral("system");
}

ThemeChoice themeChoice(const QString& spelling)
{
    if (spelling == QLatin1String("light"))
        return ThemeChoice::light;
    return spelling == QLatin1String("dark") ? ThemeChoice::dark : ThemeChoice::system;
}

void prepareAppearance()
{
    // QApplication has taken the user's, which may write 1,5 and read 1.5 as 15; the window is in English.
    // The system's own words ("No space left on device") are in English as well.
    std::setlocale(LC_NUMERIC, "C");
    std::setlocale(LC_MESSAGES, "C");
    QLocale english = QLocale::c();
    english.setNumberOptions(QLocale::DefaultNumberOptions); // boxes that group thousands do so
    QLocale::setDefault(english);
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    qApp->setProperty(kSystemIsDark, dark);
    QApplication::setStyle(new AppStyle);
    QApplication::setFont(baseFont());
    installCardAccessibility();
    installChooserAccessibility();
    installStackAccessibility();
    installAnnouncements();
    qApp->installEventFilter(new CutTextTips(qApp));
    qApp->installEventFilter(new ChoiceNames(qApp));
}

void applyTheme(ThemeChoice choice)
{
    const bool dark
        = choice == ThemeChoice::dark || (choice == ThemeChoice::system && qApp->property(kSystemIsDark).toBool());
    const Theme& theme = dark ? darkTheme() : lightTheme();
    QApplication::setPalette(theme.palette());
    QToolTip::setPalette(theme.palette());
    qApp->setStyleSheet(theme.styleSheet());
}

} // namespace fourfold::ui
