// SPDX-License-Identifier: GPL-3.0-or-later
// A line over the page that says something the user should know and may act on; it stays until it is closed or no
// longer true.
#pragma once

#include "app/view/tone.h"

#include <QFrame>

#include <functional>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace fourfold::ui {

using view::Tone;

class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* parent = nullptr); // hidden

    struct Action {
        QString text;
        std::function<void()> run;
    };
    // Replaces what it said before. Every action also closes the banner.
    void say(Tone tone, const QString& text, const std::vector<Action>& actions = {}, bool closable = true);
    [[nodiscard]] QString text() const;

private:
    QLabel* m_text;
    QPushButton* m_close;
    QHBoxLayout* m_row;
    std::vector<QPushButton*> m_buttons;
};

} // namespace fourfold::ui
