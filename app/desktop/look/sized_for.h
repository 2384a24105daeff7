// SPDX-License-Identifier: GPL-3.0-or-later
// A widget at another size, or in other colours, for as long as it is drawn into a file.
#pragma once

#include "app/desktop/look/theme.h"

#include <QLayout>
#include <QPalette>
#include <QVariant>
#include <QWidget>

namespace fourfold::ui {

// On a widget while it is drawn into a file: what only helps who sits before the window is left out.
inline constexpr const char* kForFile = "fourfoldForFile";

// Gives the widget another size while it is drawn, and its own afterwards. Updates stay enabled: a graphics view
// without them draws nothing, and no event comes by that could show the size on the screen.
class SizedFor {
public:
    SizedFor(QWidget& widget, const QSize& size)
        : m_widget(widget)
        , m_before(widget.size())
        , m_least(widget.minimumSize())
        , m_most(widget.maximumSize())
    {
        widget.setProperty(kForFile, true);
        widget.setMinimumSize(0, 0);
        widget.setMaximumSize(QWIDGETSIZE_MAX, QWIDGETSIZE_MAX);
        widget.resize(size);
        if (QLayout* layout = widget.layout())
            layout->activate(); // a widget on show would be drawn as it was: what is inside may be arranged anew
    }
    ~SizedFor()
    {
        m_widget.setProperty(kForFile, QVariant());
        m_widget.setMinimumSize(m_least);
        m_widget.setMaximumSize(m_most);
        m_widget.resize(m_before);
    }
    SizedFor(const SizedFor&) = delete;
    SizedFor& operator=(const SizedFor&) = delete;

private:
    QWidget& m_widget;
    QSize m_before, m_least, m_most;
};

// Gives the widget the light colours while it is drawn for paper, and its own afterwards.
class LightFor {
public:
    explicit LightFor(QWidget& widget)
        : m_widget(widget)
        , m_before(widget.testAttribute(Qt::WA_SetPalette) ? widget.palette() : QPalette())
    {
        widget.setPalette(lightTheme().palette());
    }
    ~LightFor() { m_widget.setPalette(m_before); }
    LightFor(const LightFor&) = delete;
    LightFor& operator=(const LightFor&) = delete;

private:
    QWidget& m_widget;
    QPalette m_before;
};

} // namespace fourfold::ui
