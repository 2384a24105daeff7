// SPDX-License-Identifier: GPL-3.0-or-later
// Colours that mean different things in one picture are told apart without red, green or blue cones, in light and dark,
// unless a pattern tells them apart as well; lines and bars stand out from what is behind them.
#include "app/desktop/look/theme.h"
#include "app/desktop/widgets/charts/curves_chart.h"
#include "app/desktop/widgets/charts/memory_kinds.h"
#include "app/desktop/widgets/charts/step_split.h"
#include "app/desktop/widgets/timeline/timeline_painter.h"
#include "app/desktop/widgets/timeline/timeline_raster.h"
#include "core/report/chart.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace fourfold;
using namespace fourfold::ui;

namespace {
constexpr double kApart = 15; // of CIE L*a*b*; a just noticeable difference is 2.3
constexpr double kLineContrast = 3; // WCAG 2.1, 1.4.11

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Of linear RGB: Machado, Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of Color Vision
// Deficiency", severity 1.0.
struct Vision {
    const char* name;
    Matrix matrix;
};
const std::array<Vision, 4> kVisions{{{"usual", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protanopia",
        {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deuteranopia",
        {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritanopia",
        {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}}}};

Vector times(const Matrix& matrix, const Vector& v)
{
    Vector result{};
    for (std::size_t i = 0; i < 3; ++i)
        result[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
    return result;
}

Vector linear(const QColor& colour)
{
    const auto channel = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return {channel(colour.redF()), channel(colour.greenF()), channel(colour.blueF())};
}

// Under the white of sRGB.
Vector labOf(Vector rgb)
{
    static const Matrix kXyz{
        {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
    for (double& channel : rgb)
        channel = std::clamp(channel, 0.0, 1.0);
    const auto curve = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const Vector xyz = times(kXyz, rgb);
    const double x = curve(xyz[0] / 0.95047), y = curve(xyz[1]), z = curve(xyz[2] / 1.08883);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const QColor& a, const QColor& b, const Vision& vision)
{
    const Vector one = labOf(times(vision.matrix, linear(a))), two = labOf(times(vision.matrix, linear(b)));
    return std::hypot(one[0] - two[0], one[1] - two[1], one[2] - two[2]);
}

double contrast(const QColor& a, const QColor& b)
{
    const auto luminance = [](const QColor& colour) {
        const Vector rgb = linear(colour);
        return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    };
    const double one = luminance(a), two = luminance(b);
    return (std::max(one, two) + 0.05) / (std::min(one, two) + 0.05);
}

struct Look {
    QString name;
    QColor colour;
    Card::Fill fill = Card::Fill::solid;
};

// What two looks of one picture have too much in common, a line each.
QString tooNear(const QString& picture, const std::vector<Look>& looks)
{
    QStringList lines;
    for (const Vision& vision : kVisions) {
        for (std::size_t i = 0; i < looks.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                const double apart = distance(looks[i].colour, looks[k].colour, vision);
                if (looks[i].fill == looks[k].fill && apart < kApart)
                    lines << QStringLiteral("%1, %2: %3 and %4 are %5 apart")
                                 .arg(picture, QLatin1String(vision.name), looks[k].name, looks[i].name)
                                 .arg(apart, 0, 'f', 1);
            }
        }
    }
    return lines.join(QLatin1Char('\n'));
}

QString nameOf(const Theme& theme, const char* what)
{
    return QLatin1String(what) + QLatin1String(theme.dark ? " (dark)" : " (light)");
}

const std::array<const Theme*, 2> kThemes{&lightTheme(), &darkTheme()};
} // namespace

class ColourTest : public QObject {
    Q_OBJECT
private slots:
    // The measure itself: red and green of one lightness are one colour without green cones; black and white are 100
    // apart for everybody.
    void visionsAreSimulated()
    {
        const QColor red(0xc0, 0x50, 0x20), green(0x80, 0x80, 0x10);
        QVERIFY(distance(red, green, kVisions[0]) > 40);
        QVERIFY(distance(red, green, kVisions[2]) < 15);
        for (const Vision& vision : kVisions)
            QVERIFY(std::abs(distance(Qt::black, Qt::white, vision) - 100) < 0.5);
        QVERIFY(!tooNear(QStringLiteral("test"), {{QStringLiteral("red"), red}, {QStringLiteral("green"), green}})
                     .isEmpty());
    }

    void kindsOfMemoryAreToldApart()
    {
        for (const Theme* theme : kThemes) {
            std::vector<Look> looks;
            for (const ui::MemoryKind& kind : ui::kMemoryKinds) // as lines of a chart over time they have no pattern
                looks.push_back({kind.label(), theme->*kind.color, Card::Fill::solid});
            const QString faults = tooNear(nameOf(*theme, "memory"), looks);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
    }

    void partsOfAStepAreToldApart()
    {
        for (const Theme* theme : kThemes) {
            std::vector<Look> looks;
            for (int part = 0; part < static_cast<int>(kParts); ++part) {
                const PartLook look = stackedLookOf(static_cast<Part>(part));
                looks.push_back({QString::number(part), theme->*look.color, look.fill});
            }
            const QString faults = tooNear(nameOf(*theme, "parts"), looks);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
    }

    void barsOfATimelineAreToldApart()
    {
        for (const Theme* theme : kThemes) {
            std::vector<Look> looks{{QStringLiteral("idle"), theme->idle}};
            for (int i = 0; i <= static_cast<int>(BarKind::other); ++i) {
                const auto kind = static_cast<BarKind>(i);
                looks.push_back({QString::number(i), timelineColor(kind, *theme), timelineFill(kind)});
            }
            QString faults = tooNear(nameOf(*theme, "timeline"), looks);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
            looks = {{QStringLiteral("idle"), theme->idle}}; // of kernels, which have a picture of their own
            for (const auto kind : {BarKind::product, BarKind::attention, BarKind::kernel, BarKind::optimizer,
                     BarKind::communication, BarKind::copy})
                looks.push_back(
                    {QString::number(static_cast<int>(kind)), timelineColor(kind, *theme), timelineFill(kind)});
            faults = tooNear(nameOf(*theme, "kernels"), looks);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
            QVERIFY(contrast(theme->onLightBar, theme->weightGradient) >= 4.5); // its numerals
        }
    }

    // They cross, and have no pattern.
    void linesOfRunsAreToldApartAndSeen()
    {
        for (const Theme* theme : kThemes) {
            std::vector<Look> looks;
            for (std::size_t i = 0; i < theme->curves.size(); ++i) {
                const QColor colour = curveColour(*theme, i);
                looks.push_back({colour.name(), colour});
                QVERIFY2(contrast(colour, theme->panel) >= kLineContrast, qPrintable(colour.name()));
            }
            const QString faults = tooNear(nameOf(*theme, "runs"), looks);
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
    }

    void bothEndsOfAHeatMapAreToldApart()
    {
        for (const Theme* theme : kThemes) {
            const QString faults = tooNear(nameOf(*theme, "error"),
                {{QStringLiteral("less"), theme->weights}, {QStringLiteral("more"), theme->activations},
                    {QStringLiteral("none"), theme->panel}});
            QVERIFY2(faults.isEmpty(), qPrintable(faults));
        }
    }

    void picturesOfTheCommandAreToldApart()
    {
        std::vector<Look> looks;
        for (const unsigned rgb : {okabe::kBlue, okabe::kOrange, okabe::kGreen, okabe::kVermilion, okabe::kPurple,
                 okabe::kSky, okabe::kYellow, okabe::kGrey})
            looks.push_back({QColor(rgb).name(), QColor(rgb)});
        const QString faults = tooNear(QStringLiteral("pictures"), looks);
        QVERIFY2(faults.isEmpty(), qPrintable(faults));
    }
};

QTEST_GUILESS_MAIN(ColourTest)
#include "colour_test.moc"
