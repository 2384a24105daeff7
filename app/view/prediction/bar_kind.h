// SPDX-License-Identifier: GPL-3.0-or-later
// What a bar of a timeline is: a span of a stage, or a kernel of a stream.
#pragma once

#include "core/profile/kineto.h"
#include "core/schedule/timeline.h"

#include <optional>
#include <string_view>

namespace fourfold::view {

// The first ones are SpanKind's, in its order.
enum class BarKind : std::uint8_t {
    forward,
    backward,
    weight_gradient,
    send_receive,
    gradient_reduce,
    parameter_gather,
    optimizer,
    other,
    product,
    attention,
    kernel,
    communication,
    copy
};
inline constexpr std::size_t kSpanKinds = static_cast<std::size_t>(BarKind::other) + 1;
inline constexpr std::size_t kBarKinds = static_cast<std::size_t>(BarKind::copy) + 1;

constexpr BarKind bar_kind(SpanKind kind)
{
    return static_cast<BarKind>(kind);
}
constexpr BarKind bar_kind(KernelKind kind)
{
    constexpr std::array kKinds{BarKind::product, BarKind::attention, BarKind::kernel, BarKind::optimizer,
        BarKind::communication, BarKind::copy};
    return kKinds[static_cast<std::size_t>(kind)];
}
// Empty for kernels.
constexpr std::optional<SpanKind> span_kind(BarKind kind)
{
    return static_cast<std::size_t>(kind) < kSpanKinds ? std::optional(static_cast<SpanKind>(kind)) : std::nullopt;
}
constexpr std::string_view name(BarKind kind)
{
    constexpr std::array<std::string_view, kBarKinds - kSpanKinds> kKernels{
        "matrix product", "attention", "other kernel", "communication", "copy"};
    const auto span = span_kind(kind);
    return span ? fourfold::name(*span) : kKernels[static_cast<std::size_t>(kind) - kSpanKinds];
}

} // namespace fourfold::view
