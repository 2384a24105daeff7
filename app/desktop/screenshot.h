// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of the window without anybody at the screen: for the README and for tests.
#pragma once

#include "core/base/expected.h"

#include <QSize>
#include <QString>

namespace fourfold::ui {

class MainWindow;

struct ScreenshotRequest {
    QString file; // .png
    QString page; // its id; empty: as it is
    bool dark = false;
    QSize size{1680, 1050};
};

// Waits for the prediction, draws and writes the picture.
Expected<void> takeScreenshot(MainWindow& window, const ScreenshotRequest& request);

} // namespace fourfold::ui
