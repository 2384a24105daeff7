// SPDX-License-Identifier: GPL-3.0-or-later
// Tool tips with the whole of what Qt's own widgets write shortened: cells, items, headings, tabs, choices, labels,
// empty fields.
#pragma once

#include <QObject>

namespace fourfold::ui {

// Watches the application. A cell or heading with a tip of its own has it behind the text.
class CutTextTips : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace fourfold::ui
