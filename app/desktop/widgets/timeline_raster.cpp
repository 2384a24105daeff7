// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace fourfold::ui {

namespace {
constexpr int kKinds = static_cast<int>(SpanKind::other) + 1;
using Coverage = std::array<float, kKinds>;

// Once-a-step communication may run beside compute: it gets the lower part of the row where both happen.
bool isStepCommunication(int kind)
{
    return kind == static_cast<int>(SpanKind::gradient_reduce) || kind == static_cast<int>(SpanKind::parameter_gather);
}

void accumulate(std::vector<Coverage>& columns, double x0, double x1, std::size_t kind)
{
    const auto width = static_cast<double>(columns.size());
    x0 = std::max(0.0, x0);
    x1 = std::min(width, x1);
    if (x1 <= x0)
        return;
    const auto first = static_cast<std::size_t>(x0);
    const std::size_t last = std::min(columns.size() - 1, static_cast<std::size_t>(x1));
    if (first == last) {
        columns[first][kind] += static_cast<float>(x1 - x0);
        return;
    }
    columns[first][kind] += static_cast<float>(double(first) + 1 - x0);
    for (std::size_t i = first + 1; i < last; ++i)
        columns[i][kind] += 1;
    columns[last][kind] += static_cast<float>(x1 - double(last));
}

class Mixer {
public:
    explicit Mixer(const Theme& theme)
        : m_idle(theme.idle.rgb())
    {
        for (int kind = 0; kind < kKinds; ++kind)
            m_colors[static_cast<std::size_t>(kind)] = timelineColor(static_cast<SpanKind>(kind), theme).rgb();
    }

    // Mean colour of the kinds that `wanted` accepts; idle time fills what they leave.
    template <typename Wanted>
    [[nodiscard]] QRgb mix(const Coverage& coverage, Wanted wanted) const
    {
        float sum = 0;
        float red = 0, green = 0, blue = 0;
        const auto add = [&](QRgb color, float weight) {
            red += weight * static_cast<float>(qRed(color));
            green += weight * static_cast<float>(qGreen(color));
            blue += weight * static_cast<float>(qBlue(color));
            sum += weight;
        };
        for (int kind = 0; kind < kKinds; ++kind) {
            const float weight = coverage[static_cast<std::size_t>(kind)];
            if (weight > 0 && wanted(kind))
                add(m_colors[static_cast<std::size_t>(kind)], weight);
        }
        if (sum < 1)
            add(m_idle, 1 - sum);
        return qRgb(int(red / sum), int(green / sum), int(blue / sum));
    }

private:
    QRgb m_idle;
    std::array<QRgb, kKinds> m_colors{};
};

struct Lines {
    std::vector<QRgb> upper, lower;
};

void mixRow(const std::vector<Coverage>& columns, const Mixer& mixer, Lines& lines)
{
    for (std::size_t x = 0; x < columns.size(); ++x) {
        float step = 0, work = 0;
        for (int kind = 0; kind < kKinds; ++kind)
            (isStepCommunication(kind) ? step : work) += columns[x][static_cast<std::size_t>(kind)];
        const auto all = [](int) { return true; };
        if (step <= 0 || work <= 0) {
            lines.upper[x] = lines.lower[x] = mixer.mix(columns[x], all);
        } else {
            lines.upper[x] = mixer.mix(columns[x], [](int kind) { return !isStepCommunication(kind); });
            lines.lower[x] = mixer.mix(columns[x], isStepCommunication);
        }
    }
}
} // namespace

QColor timelineColor(SpanKind kind, const Theme& theme)
{
    switch (kind) {
    case SpanKind::forward:
        return theme.forward;
    case SpanKind::backward:
        return theme.backward;
    case SpanKind::weight_gradient:
        return theme.weightGradient;
    case SpanKind::send_receive:
        return theme.communication;
    case SpanKind::gradient_reduce:
    case SpanKind::parameter_gather:
        return theme.gradients;
    case SpanKind::optimizer:
        return theme.optimizer;
    case SpanKind::other:
        return theme.muted;
    }
    return theme.muted;
}

QImage rasterTimeline(const TimelineScene& scene, double begin, double end, const QSize& size, double rowHeight,
    int gap, double devicePixelRatio, const Theme& theme)
{
    const QSize pixels = size * devicePixelRatio;
    if (pixels.isEmpty() || !(end > begin))
        return {};
    QImage image(pixels, QImage::Format_RGB32);
    image.fill(theme.panel);
    const double perSecond = pixels.width() / (end - begin);
    const double height = rowHeight * devicePixelRatio;
    const int space = qRound(gap * devicePixelRatio);
    const Mixer mixer(theme);
    std::vector<Coverage> columns(static_cast<std::size_t>(pixels.width()));
    Lines lines{std::vector<QRgb>(columns.size()), std::vector<QRgb>(columns.size())};

    int drawnTo = 0;
    std::fill(columns.begin(), columns.end(), Coverage{});
    for (int row = 0; row < scene.rows(); ++row) {
        const int top = static_cast<int>(row * height);
        const int bottom = std::min(pixels.height(), std::max(top + 1, static_cast<int>((row + 1) * height) - space));
        const std::span<const TimelineBar> bars = scene.row(row);
        const auto [first, last] = scene.touching(row, begin, end);
        for (std::size_t i = first; i < last; ++i)
            accumulate(columns, (bars[i].start_s - begin) * perSecond, (bars[i].end_s - begin) * perSecond,
                static_cast<std::size_t>(bars[i].kind));
        // Rows thinner than a pixel share a line; mix() normalises what they add up to.
        const bool sharesLine = row + 1 < scene.rows() && static_cast<int>((row + 1) * height) == top;
        if (sharesLine || top >= pixels.height() || bottom <= drawnTo)
            continue;
        mixRow(columns, mixer, lines);
        const int divide = top + (bottom - top) * 5 / 8;
        for (int y = top; y < bottom; ++y) {
            const std::vector<QRgb>& line = y < divide || bottom - top < 4 ? lines.upper : lines.lower;
            std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(QRgb));
        }
        drawnTo = bottom;
        std::fill(columns.begin(), columns.end(), Coverage{});
    }
    image.setDevicePixelRatio(devicePixelRatio);
    return image;
}

} // namespace fourfold::ui
