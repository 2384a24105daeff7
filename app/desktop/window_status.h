// SPDX-License-Identifier: GPL-3.0-or-later
// The status bar's words about the current plan: how long its prediction took and what it rests on.
#pragma once

#include <QObject>

class QLabel;
class QStatusBar;

namespace fourfold::ui {

class PlanDocument;

class WindowStatus : public QObject {
    Q_OBJECT
public:
    explicit WindowStatus(QStatusBar& bar);
    void setDocument(PlanDocument& document); // lives until the next call

private:
    void show(const PlanDocument& document);

    QLabel *m_evaluated, *m_evidence;
    QMetaObject::Connection m_connection;
};

} // namespace fourfold::ui
