// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/screenshot.h"

#include "app/desktop/main_window.h"
#include "app/desktop/pages/plan/plan_page.h"
#include "app/desktop/pages/search/search_page.h"
#include "core/base/json.h"

#include <QApplication>
#include <QBuffer>
#include <QDeadlineTimer>
#include <QPixmap>
#include <QThread>

namespace fourfold::ui {

namespace {
constexpr int kMostMilliseconds = 60'000;
constexpr int kPaintRounds = 5; // charts lay themselves out over several turns of the event loop
} // namespace

Expected<void> takeScreenshot(MainWindow& window, const ScreenshotRequest& request)
{
    window.setTheme(request.dark ? ThemeChoice::dark : ThemeChoice::light);
    window.showPage(request.page);
    window.resize(request.size);
    window.show();
    const QDeadlineTimer deadline(kMostMilliseconds);
    while (window.document().isValid() && !window.document().isAnswered() && !deadline.hasExpired()) {
        QApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(5);
    }
    if (window.page() == QLatin1String("search")) {
        window.searchPage().start();
        while (window.searchPage().service().isRunning() && !deadline.hasExpired()) {
            QApplication::processEvents(QEventLoop::AllEvents, 20);
            QThread::msleep(5);
        }
    }
    const AdviceFinder& advice = window.planPage().advice();
    while (window.page() == QLatin1String("plan") && advice.isLooking() && !deadline.hasExpired()) {
        QApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(5);
    }
    for (int i = 0; i < kPaintRounds; ++i) {
        QApplication::processEvents();
        QApplication::sendPostedEvents();
        QThread::msleep(10);
    }
    QByteArray picture;
    QBuffer buffer(&picture);
    if (!buffer.open(QIODevice::WriteOnly) || !window.grab().save(&buffer, "PNG"))
        return Problem{
            ProblemCode::failed, "the picture cannot be made", "ask for a smaller one", request.file.toStdString()};
    return write_file_atomically(request.file.toStdString(), picture.toStdString());
}

} // namespace fourfold::ui
