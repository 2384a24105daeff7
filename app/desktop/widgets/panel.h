// SPDX-License-Identifier: GPL-3.0-or-later
// The plain surface that tables and controls stand on.
#pragma once

class QGridLayout;
class QWidget;

namespace fourfold::ui {

void usePanelStyle(QWidget* widget);
QWidget* makePanel();
// For rows of labelled controls at the top of a page.
QGridLayout* controlsGrid(QWidget* panel);

} // namespace fourfold::ui
