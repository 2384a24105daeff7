// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/widgets/timeline/timeline_raster.h"

#include "app/desktop/widgets/timeline/timeline_geometry.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace fourfold::ui {

namespace {
constexpr int kKinds = static_cast<int>(view::kBarKinds);
constexpr int kFinest = 8; // columns of a pixel in a vector picture
constexpr std::size_t kManyBars = 20'000; // for which a column a pixel is enough there
using Coverage = view::CoverageGrid::Coverage;

// Once-a-step communication may run beside compute: it gets the lower part of the row where both happen.
bool isStepCommunication(int kind)
{
    return kind == static_cast<int>(BarKind::gradient_reduce) || kind == static_cast<int>(BarKind::parameter_gather);
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
            m_colors[static_cast<std::size_t>(kind)] = timelineColor(static_cast<BarKind>(kind), theme).rgb();
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

QColor timelineColor(BarKind kind, const Theme& theme)
{
    switch (kind) {
    case BarKind::forward:
    case BarKind::product:
        return theme.forward;
    case BarKind::backward:
    case BarKind::attention:
        return theme.backward;
    case BarKind::weight_gradient:
        return theme.weightGradient;
    case BarKind::send_receive:
    case BarKind::communication:
        return theme.communication;
    case BarKind::gradient_reduce:
    case BarKind::parameter_gather:
    case BarKind::kernel: // in no picture beside the two
        return theme.gradients;
    case BarKind::optimizer:
        return theme.optimizer;
    case BarKind::other:
    case BarKind::copy:
        break;
    }
    return theme.rest;
}

namespace {
// Where a row lies and the colours of its columns: `upper` down to `divide`, `lower` below it.
struct RowLines {
    int top, divide, bottom;
    const Lines& lines;
};

// Calls `draw` for each row of [begin, end) that has room, with `columns` across and `height` down.
template <typename Draw>
void forEachRow(const TimelineScene& scene, double begin, double end, int columns, int height, double rowHeight,
    int space, const Theme& theme, Draw draw)
{
    const double perSecond = columns / (end - begin);
    // After its end a step is over, which is not waiting.
    const auto over
        = static_cast<std::size_t>(std::clamp(std::ceil((scene.length() - begin) * perSecond), 0.0, double(columns)));
    const Mixer mixer(theme);
    std::vector<Coverage> covered(static_cast<std::size_t>(columns), Coverage{});
    Lines lines{std::vector<QRgb>(covered.size()), std::vector<QRgb>(covered.size())};
    int drawnTo = 0;
    for (int row = 0; row < scene.rows(); ++row) {
        const int top = static_cast<int>(row * rowHeight);
        const int bottom = std::min(height, std::max(top + 1, static_cast<int>((row + 1) * rowHeight) - space));
        const std::span<const TimelineBar> bars = scene.row(row);
        const bool isFine = scene.grid(row).is_fine(1 / perSecond);
        if (isFine)
            scene.grid(row).add(begin, end, covered);
        const auto [first, last] = isFine ? std::pair<std::size_t, std::size_t>() : scene.touching(row, begin, end);
        for (std::size_t i = first; i < last; ++i)
            accumulate(covered, (bars[i].start_s - begin) * perSecond, (bars[i].end_s - begin) * perSecond,
                static_cast<std::size_t>(bars[i].kind));
        // Rows thinner than a pixel share a line; mix() normalises what they add up to.
        const bool sharesLine = row + 1 < scene.rows() && static_cast<int>((row + 1) * rowHeight) == top;
        if (sharesLine || top >= height || bottom <= drawnTo)
            continue;
        mixRow(covered, mixer, lines);
        for (std::vector<QRgb>* line : {&lines.upper, &lines.lower})
            std::fill(line->begin() + static_cast<std::ptrdiff_t>(over), line->end(), theme.panel.rgb());
        draw(RowLines{top, bottom - top < 4 ? bottom : top + (bottom - top) * 5 / 8, bottom, lines});
        drawnTo = bottom;
        std::fill(covered.begin(), covered.end(), Coverage{});
    }
}

// One rectangle for columns of one colour, two where the halves of the row differ: a row that is cut everywhere would
// show a seam. A single column between two of them is the edge where one bar ends in it: it goes to the one before.
void fillRuns(QPainter& painter, const QRect& place, const RowLines& row, QRgb ground)
{
    const std::vector<QRgb>&upper = row.lines.upper, &lower = row.lines.lower;
    const double column = place.width() / double(upper.size());
    const auto endOf = [&](std::size_t from) {
        std::size_t to = from + 1;
        while (to < upper.size() && upper[to] == upper[from] && lower[to] == lower[from])
            ++to;
        return to;
    };
    for (std::size_t from = 0; from < upper.size();) {
        std::size_t to = endOf(from);
        if (to + 1 < upper.size() && to - from > 1 && endOf(to) == to + 1 && endOf(to + 1) > to + 2)
            ++to;
        const auto fill = [&](int top, int bottom, QRgb color) {
            if (color != ground && bottom > top) {
                painter.fillRect(QRectF(place.left() + double(from) * column, place.top() + top,
                                     double(to - from) * column, bottom - top),
                    QColor(color));
            }
        };
        const bool whole = upper[from] == lower[from];
        fill(row.top, whole ? row.bottom : row.divide, upper[from]);
        if (!whole)
            fill(row.divide, row.bottom, lower[from]);
        from = to;
    }
}
} // namespace

QImage rasterTimeline(const TimelineScene& scene, double begin, double end, const QSize& size, double rowHeight,
    int gap, double devicePixelRatio, const Theme& theme)
{
    const QSize pixels = size * devicePixelRatio;
    if (pixels.isEmpty() || !(end > begin))
        return {};
    QImage image(pixels, QImage::Format_RGB32);
    image.fill(theme.panel);
    forEachRow(scene, begin, end, pixels.width(), pixels.height(), rowHeight * devicePixelRatio,
        qRound(gap * devicePixelRatio), theme, [&](const RowLines& row) {
            for (int y = row.top; y < row.bottom; ++y) {
                const std::vector<QRgb>& line = y < row.divide ? row.lines.upper : row.lines.lower;
                std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(QRgb));
            }
        });
    image.setDevicePixelRatio(devicePixelRatio);
    return image;
}

void drawTimeline(QPainter& painter, const TimelineScene& scene, double begin, double end, const QRect& place,
    double rowHeight, int gap, const Theme& theme)
{
    if (place.isEmpty() || !(end > begin))
        return;
    std::size_t bars = 0;
    for (int row = 0; row < scene.rows(); ++row) {
        const auto [first, last] = scene.touching(row, begin, end);
        bars += last - first;
    }
    const int columns = place.width() * (bars > kManyBars ? 1 : kFinest);
    const QRgb ground = theme.panel.rgb();
    forEachRow(scene, begin, end, columns, place.height(), rowHeight, gap, theme,
        [&](const RowLines& row) { fillRuns(painter, place, row, ground); });
}

} // namespace fourfold::ui
