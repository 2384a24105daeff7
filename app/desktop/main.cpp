// SPDX-License-Identifier: GPL-3.0-or-later
// fourfold-desktop [FILE...]
#include "app/desktop/appearance.h"
#include "app/desktop/main_window.h"
#include "app/desktop/page_stack.h"
#include "app/desktop/screenshot.h"
#include "app/models/shared/dropped_item.h"
#include "app/models/shared/text.h"
#include "core/base/standard_streams.h"
#include "core/base/thrown.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QScreen>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>

namespace {
using namespace fourfold;
using namespace fourfold::ui;

int fail(int status, const QString& line)
{
    std::fprintf(stderr, "fourfold-desktop: %s\n", qPrintable(line));
    return status;
}

struct Arguments {
    QStringList files;
    MainWindow::Options window;
    ScreenshotRequest screenshot; // no file: an ordinary start
    QString answer; // to --help and --version: printed instead of a start
};

// Fails with the line to print.
Expected<Arguments> parse(const QCoreApplication& application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Plan, run and compare 4D-parallel LLM training."));
    const QCommandLineOption help = parser.addHelpOption(), version = parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("file"),
        QStringLiteral(
            "Plans, projects (folders of plans), models (config.json), folders of runs, tables of measurements, traces "
            "of torch.profiler and folders of TensorBoard or Weights & Biases to open, as if they were dropped on the "
            "window. With --screenshot one plan at most."),
        QStringLiteral("[FILE...]"));
    const QCommandLineOption screenshot(QStringLiteral("screenshot"),
        QStringLiteral("Write a picture of the window to FILE (.png) and exit."), QStringLiteral("FILE"));
    const QCommandLineOption page(QStringLiteral("page"),
        QStringLiteral("Start on this page: %1.").arg(PageStack::ids().join(QStringLiteral(", "))),
        QStringLiteral("PAGE"));
    const QCommandLineOption dark(QStringLiteral("dark"), QStringLiteral("Picture in dark colours."));
    const QCommandLineOption size(
        QStringLiteral("size"), QStringLiteral("Size of the picture, default 1680x1050."), QStringLiteral("WxH"));
    const QCommandLineOption trainer(QStringLiteral("trainer"),
        QStringLiteral("Use this fourfold-trainer instead of the one beside this program."), QStringLiteral("FILE"));
    parser.addOptions({screenshot, page, dark, size, trainer});
    if (!parser.parse(application.arguments()))
        return Problem{ProblemCode::bad_input, parser.errorText().toStdString(), "see --help", "arguments"};

    Arguments arguments;
    if (parser.isSet(help))
        arguments.answer = parser.helpText();
    else if (parser.isSet(version))
        arguments.answer
            = application.applicationName() + QLatin1Char(' ') + application.applicationVersion() + QLatin1Char('\n');
    if (!arguments.answer.isEmpty())
        return arguments;
    arguments.files = parser.positionalArguments();
    if (parser.isSet(screenshot) && parser.value(screenshot).isEmpty())
        return Problem{ProblemCode::bad_input, "--screenshot names no file", "see --help", ""};
    const QFileInfo picture(parser.value(screenshot));
    if (parser.isSet(screenshot) && picture.suffix().compare(QLatin1String("png"), Qt::CaseInsensitive) != 0)
        return Problem{ProblemCode::bad_input, "ends in no .png, and a picture of the window is one", "",
            parser.value(screenshot).toStdString()};
    if (parser.isSet(screenshot) && !picture.dir().exists())
        return Problem{ProblemCode::bad_input, "there is no such folder", "make it first, or choose another",
            parser.value(screenshot).toStdString()};
    if (parser.isSet(screenshot) && arguments.files.size() > 1)
        return Problem{ProblemCode::bad_input, "--screenshot takes one plan file at most", "see --help", ""};
    arguments.window.trainer = parser.value(trainer).toStdString();
    arguments.screenshot.file = parser.value(screenshot);
    arguments.screenshot.dark = parser.isSet(dark);
    if (parser.isSet(page)) {
        const QStringList pages = PageStack::ids();
        arguments.screenshot.page = parser.value(page);
        if (!pages.contains(arguments.screenshot.page)) {
            return Problem{ProblemCode::bad_input,
                "--page must be one of " + pages.join(QStringLiteral(", ")).toStdString(), "", ""};
        }
    }
    if (parser.isSet(size)) {
        const QStringList parts = parser.value(size).split(QLatin1Char('x'));
        arguments.screenshot.size = {parts.value(0).toInt(), parts.value(1).toInt()};
        if (parts.size() != 2 || arguments.screenshot.size.width() < 200 || arguments.screenshot.size.height() < 200
            || arguments.screenshot.size.width() > 16384 || arguments.screenshot.size.height() > 16384)
            return Problem{ProblemCode::bad_input, "--size must be WxH from 200x200 to 16384x16384", "", ""};
    }
    arguments.window.session = arguments.screenshot.file.isEmpty();
    return arguments;
}

void nameProgram()
{
    QCoreApplication::setApplicationName(QStringLiteral("fourfold-desktop"));
    QCoreApplication::setApplicationVersion(QStringLiteral(FOURFOLD_VERSION));
}

// Says what is wrong with the arguments, or answers those that ask; nothing when the window is wanted.
std::optional<int> answer(const Expected<Arguments>& arguments)
{
    if (!arguments)
        return fail(2, fromUtf8(arguments.error().line()));
    if (arguments->answer.isEmpty())
        return {};
    std::fputs(qPrintable(arguments->answer), stdout);
    return status_after_output(0, "fourfold-desktop");
}

bool isOneOf(const char* argument, std::initializer_list<const char*> words)
{
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return std::strcmp(argument, word) == 0; });
}

bool hasDisplay()
{
    return !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
}

// With a factor that no screen has Qt finds nothing to paint on. Of screens ("2;1.5" or "HDMI-1=2") each counts.
void leaveOutWildScale(const char* variable, double least, double most)
{
    if (qEnvironmentVariableIsEmpty(variable))
        return;
    const QStringList factors = qEnvironmentVariable(variable).split(QLatin1Char(';'), Qt::SkipEmptyParts);
    const bool usable = std::all_of(factors.begin(), factors.end(), [&](const QString& factor) {
        bool number = false;
        const double value = factor.section(QLatin1Char('='), -1).toDouble(&number);
        return number && value >= least && value <= most;
    });
    if (usable)
        return;
    qunsetenv(variable);
    std::fprintf(
        stderr, "fourfold-desktop: warning: %s is left out: expected a number from %g to %g\n", variable, least, most);
}

// What nobody caught, as where no thread can be started any more: one line instead of abort()'s.
void sayWhatWasThrown()
{
    QString why = QStringLiteral("ended without a word");
    try {
        if (const auto thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::exception&) {
        why = fromUtf8(problem_of_thrown("").line());
    } catch (...) {
        why = QStringLiteral("something unknown was thrown");
    }
    std::_Exit(fail(1, why));
}

// A picture is of the window with a plan; other things would go into the history, or into a window of their own.
Expected<void> openForPicture(MainWindow& window, const QString& file)
{
    const Expected<DroppedItem> item = classify(file.toStdString());
    if (item && item->kind != DroppedKind::plan)
        return Problem{ProblemCode::bad_input, "is no plan, and --screenshot shows a plan",
            "open it in the window, which would do this: " + whatItDoes(*item).toStdString(), file.toStdString()};
    return window.document().open(file.toStdString());
}

int failWithoutWindow(const QString& why)
{
    return fail(1,
        QStringLiteral("no window can be opened: %1; use the command instead (fourfold --help), or log in with ssh -X")
            .arg(fromUtf8(why.toStdString())));
}

// Qt has no format of pixels for a display of 256 colours, and ends where it paints on one.
bool hasTooFewColours()
{
    constexpr int kLeastBits = 15;
    const QScreen* screen = QGuiApplication::primaryScreen();
    return screen != nullptr && screen->depth() < kLeastBits;
}

// Qt ends a program that gets no display with abort(), after some lines of its own.
void sayWhyThereIsNoWindow(QtMsgType type, const QMessageLogContext& /*context*/, const QString& /*message*/)
{
    if (type != QtFatalMsg)
        return;
    const QString platform = qEnvironmentVariable("QT_QPA_PLATFORM"), display = qEnvironmentVariable("DISPLAY");
    const QString why = !platform.isEmpty() ? QStringLiteral("Qt cannot use QT_QPA_PLATFORM=%1").arg(platform)
        : !display.isEmpty()                ? QStringLiteral("the display %1 does not answer").arg(display)
                                            : QStringLiteral("DISPLAY is not set");
    std::_Exit(failWithoutWindow(why));
}
} // namespace

int main(int argc, char** argv)
{
    begin_program();
    std::set_terminate(sayWhatWasThrown);
    leaveOutWildScale("QT_SCALE_FACTOR", 0.25, 8);
    leaveOutWildScale("QT_SCREEN_SCALE_FACTORS", 0.25, 8);
    leaveOutWildScale("QT_FONT_DPI", 24, 768);
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const auto given = [&](std::initializer_list<const char*> options) {
        return std::any_of(words.begin(), words.end(), [&](const char* word) { return isOneOf(word, options); });
    };
    if (given({"-h", "--help", "--help-all", "-v", "--version"})) { // needs no display
        const QCoreApplication application(argc, argv);
        nameProgram();
        if (const auto status = answer(parse(application)))
            return *status;
    }
    if (given({"--screenshot"}) && !hasDisplay() && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const QtMessageHandler before = qInstallMessageHandler(sayWhyThereIsNoWindow);
    QApplication application(argc, argv);
    qInstallMessageHandler(before);
    nameProgram();
    QApplication::setApplicationDisplayName(QStringLiteral("Fourfold"));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.fourfold.Fourfold"));
    prepareAppearance();
    const Expected<Arguments> arguments = parse(application);
    if (const auto status = answer(arguments))
        return *status;
    if (hasTooFewColours())
        return failWithoutWindow(QStringLiteral("the display has fewer than 15 bits of colour"));

    const Presets presets;
    MainWindow window(presets, arguments->window);
    if (!arguments->screenshot.file.isEmpty()) {
        if (arguments->files.isEmpty())
            window.openStartPlan();
        else if (const Expected<void> opened = openForPicture(window, arguments->files.front()); !opened)
            return fail(opened.error().exit_status(), fromUtf8(opened.error().line()));
        const Expected<void> taken = takeScreenshot(window, arguments->screenshot);
        return taken ? 0 : fail(1, fromUtf8(taken.error().line()));
    }
    window.showPage(arguments->screenshot.page);
    window.show();
    // An unusable file is told on top of a window that works.
    QTimer::singleShot(0, &window, [&] {
        window.openStartPlan();
        for (const QString& file : arguments->files)
            window.openFile(file.toStdString());
    });
    const int status = QApplication::exec();
    if (window.leftRunBehind())
        std::_Exit(status); // the thread that follows the run is still in it
    return status;
}
