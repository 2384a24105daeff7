// SPDX-License-Identifier: GPL-3.0-or-later
// What pickers are called to a screen reader. On Linux Qt tells the chosen entry as the name of a QComboBox, and who
// asks what is chosen there is told by a label beside it: each picker that has none gets one that nobody sees.
#pragma once

#include <QObject>

namespace fourfold::ui {

// An event filter of the application.
class ChoiceNames : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace fourfold::ui
