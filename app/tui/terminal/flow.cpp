// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/flow.h"

#include <algorithm>

namespace fourfold::tui {

std::chrono::milliseconds Flow::limit() const
{
    return heard_ ? kStalled : kUnheard;
}

bool Flow::asks(Time now)
{
    const std::size_t last = questions_.empty() ? shown_ : questions_.back().behind;
    if (silent_ || sent_ - last < kEvery)
        return false;
    questions_.push_back({sent_, now});
    return true;
}

void Flow::answered()
{
    heard_ = true;
    silent_ = false;
    if (questions_.empty())
        return; // late: nobody waits for it any more
    shown_ = questions_.front().behind;
    questions_.pop_front();
}

bool Flow::is_ready(Time now)
{
    if (!questions_.empty() && now - questions_.front().asked >= limit()) {
        silent_ = !heard_;
        forget();
    }
    return questions_.empty() || sent_ - shown_ < kWindow;
}

int Flow::patience(Time now) const
{
    if (questions_.empty())
        return 0;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(questions_.front().asked + limit() - now);
    return static_cast<int>(std::max<long>(0, left.count()));
}

void Flow::forget()
{
    questions_.clear();
    shown_ = sent_;
}

} // namespace fourfold::tui
