// SPDX-License-Identifier: GPL-3.0-or-later
// Several cards in one place, with a small switch at the right of the header: one click or Ctrl+PgUp, Ctrl+PgDown from
// the card with the focus.
#pragma once

#include <QList>
#include <QWidget>

class QStackedLayout;
class QTabBar;

namespace fourfold::ui {

class Card;

class CardStack : public QWidget {
    Q_OBJECT
    Q_PROPERTY(int current READ current WRITE setCurrent)
public:
    struct Entry {
        Card* card;
        QString name; // on the switch
    };
    explicit CardStack(const QList<Entry>& entries, QWidget* parent = nullptr);
    void setCurrent(int index);
    void setCurrent(const Card& card); // one of them
    [[nodiscard]] int current() const;

signals:
    void currentChanged(int index);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void place();

    QStackedLayout* m_cards;
    QTabBar* m_switch;
    QList<Entry> m_entries;
};

} // namespace fourfold::ui
