// SPDX-License-Identifier: GPL-3.0-or-later
// The plain surface that tables and controls stand on.
#pragma once

class QGridLayout;
class QLabel;
class QString;
class QWidget;

namespace fourfold::ui {

enum class Tone;

void usePanelStyle(QWidget* widget);
// What a label that is on show says has another tone now: "muted", "good", "warning", "bad" (see Theme::styleSheet()).
void changeRole(QLabel* label, const QString& role);
QString roleOf(Tone tone);
QWidget* makePanel();
// For rows of labelled controls at the top of a page.
QGridLayout* controlsGrid(QWidget* panel);

} // namespace fourfold::ui
