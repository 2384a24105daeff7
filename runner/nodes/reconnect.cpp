// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/reconnect.h"

#include <algorithm>

namespace fourfold {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds kFirstWait = 300ms;
constexpr std::chrono::milliseconds kLongestWait = 10s;
constexpr std::chrono::duration<double> kRefused = 20s;

std::chrono::duration<double> worth(ProblemCode code, std::chrono::duration<double> limit)
{
    switch (code) {
    case ProblemCode::network:
        return limit;
    case ProblemCode::refused:
    case ProblemCode::io:
    case ProblemCode::failed:
        return std::min(kRefused, limit);
    case ProblemCode::bad_input:
    case ProblemCode::not_found:
    case ProblemCode::unsupported:
    case ProblemCode::cancelled:
    case ProblemCode::conflict:
        break;
    }
    return std::chrono::duration<double>(-1);
}

} // namespace

std::optional<std::chrono::milliseconds> Reconnect::wait_after(const Problem& problem)
{
    const auto now = Clock::now();
    if (!since_)
        since_ = now;
    if (now - *since_ >= worth(problem.code, limit_))
        return {};
    wait_ = wait_ == 0ms ? kFirstWait : std::min(wait_ * 2, kLongestWait);
    return wait_;
}

bool Reconnect::is_news(const Problem& problem)
{
    std::string line = problem.line();
    const bool news = line != said_;
    said_ = std::move(line);
    return news;
}

void Reconnect::reached()
{
    since_.reset();
    wait_ = 0ms;
    said_.clear();
}

} // namespace fourfold
