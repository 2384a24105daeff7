// SPDX-License-Identifier: GPL-3.0-or-later
// A line for a value of the plan that need not be written: empty, it says what stands otherwise. What was typed is
// taken on Enter or when the focus goes; Escape brings back what stood there.
#pragma once

#include <QLineEdit>

#include <functional>

namespace fourfold::ui {

class InvalidFrame;

class ValueEdit : public QLineEdit {
    Q_OBJECT
public:
    // What is wrong with the text, which stays then; empty: it was taken.
    using Take = std::function<QString(const QString& text)>;
    explicit ValueEdit(Take take, QWidget* parent = nullptr);

    // Of the plan as it stands; what is being typed stays, and what was refused until the plan has another value.
    void showValue(const QString& written, const QString& otherwise);
    void setHelp(const QString& help); // the tool tip, with what is wrong above it
    [[nodiscard]] QString problem() const { return m_problem; } // of what is typed; empty: none

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void take();
    void tell(const QString& problem);

    Take m_take;
    InvalidFrame* m_frame = nullptr; // of the first time that something is wrong: it needs a parent
    QString m_written, m_help, m_problem;
};

} // namespace fourfold::ui
