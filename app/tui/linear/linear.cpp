// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/linear/linear.h"

#include "app/tui/terminal/glyphs.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <langinfo.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

namespace fourfold::tui {

namespace {

constexpr std::size_t kMostTyped = 1 << 20; // bytes of a line

// On stdout, whose reader may be gone: the input ends then as well.
void say(const std::string& line)
{
    static const bool utf8 = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
    const std::string shown = utf8 ? printable(line, kUncut) : ascii_text(printable(line, kUncut));
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    std::fputc('\n', stdout);
}

void say_lines(const std::string& text)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        say(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

// What is typed is not shown while it lives.
class NoEcho {
public:
    explicit NoEcho(bool wanted)
        : hides_(wanted && ::tcgetattr(STDIN_FILENO, &found_) == 0)
    {
        if (!hides_)
            return;
        termios quiet = found_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
    }
    ~NoEcho()
    {
        if (!hides_)
            return;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &found_);
        say("");
    }
    NoEcho(const NoEcho&) = delete;
    NoEcho& operator=(const NoEcho&) = delete;

private:
    termios found_{};
    bool hides_;
};

struct NamedKey {
    const char* name;
    Key::Code code;
};
constexpr NamedKey kNamed[]{{"enter", Key::enter}, {"esc", Key::escape}, {"tab", Key::tab}, {"up", Key::up},
    {"down", Key::down}, {"left", Key::left}, {"right", Key::right}, {"home", Key::home}, {"end", Key::end},
    {"del", Key::erase}, {"bksp", Key::backspace}, {"f2", Key::f2}, {"f5", Key::f5}, {"f6", Key::f6}};

constexpr const char* kHelp
    = "An empty line reads the page again. A letter is the key of that name; so are enter, esc, tab, up, down, left, "
      "right and ctrl+s. row 3 goes to the third row. On the plan a field and a value change it: tp 4. Other words "
      "find a command: what has them all. ? lists the keys, 1 to 5 are the pages, `q` leaves.";

} // namespace

Linear::Bell::Bell()
    : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
{
}

Linear::Bell::~Bell()
{
    ::close(descriptor_);
}

void Linear::Bell::ring() const
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
}

void Linear::Bell::silence() const
{
    std::uint64_t rang = 0;
    [[maybe_unused]] const ssize_t got = ::read(descriptor_, &rang, sizeof rang);
}

void Linear::run()
{
    std::setlocale(LC_CTYPE, "");
    say(desk_.keyed(kHelp));
    await_answer();
    settle();
    while (!desk_.quits()) {
        std::fflush(stdout);
        bool hides = !desk_.overlays().empty() && desk_.overlays().back()->hides_answer();
        {
            const NoEcho quiet(hides);
            std::optional<std::string> line = next_line();
            while (!line && wait()) {
                shell_.tick();
                shell_.settle_overlays();
                const Overlay* before = asked_;
                settle();
                std::fflush(stdout);
                if (asked_ != before)
                    break; // another question may hide its answer, or hide it no longer
                line = next_line();
            }
            if (line)
                take(*line);
            else if (ended_)
                break;
        }
        if (desk_.quits())
            break;
        shell_.tick();
        shell_.settle_overlays();
        await_answer();
        settle();
        shell_.keep_session(); // whatever ends the program then loses nothing
    }
    shell_.keep_session();
    std::fflush(stdout);
}

// What is read has its figures: they take a few milliseconds, on a computer with much else to do more, and lines of a
// pipe do not wait for them.
void Linear::await_answer()
{
    constexpr std::chrono::milliseconds kPatience{5000};
    const auto begin = std::chrono::steady_clock::now();
    const auto is_due = [&] { return desk_.plan().state().is_valid() && !desk_.plan().is_answered(); };
    while (is_due() && std::chrono::steady_clock::now() - begin < kPatience) {
        pollfd source{bell_.descriptor(), POLLIN, 0};
        ::poll(&source, 1, 20);
        bell_.silence();
        shell_.tick();
    }
}

bool Linear::wait()
{
    std::array<pollfd, 2> sources{{{STDIN_FILENO, POLLIN, 0}, {bell_.descriptor(), POLLIN, 0}}};
    if (ended_)
        return false;
    if (::poll(sources.data(), sources.size(), shell_.patience()) < 0 && errno != EINTR)
        return false;
    bell_.silence();
    if ((sources[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0)
        return true;
    std::array<char, 4096> block{};
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got <= 0) {
        ended_ = got == 0 || errno != EINTR;
        return !ended_;
    }
    if (typed_.size() < kMostTyped) // of what is longer the beginning will do to say that it is nothing
        typed_.append(block.data(), static_cast<std::size_t>(got));
    else if (const char* const end = std::find(block.begin(), block.begin() + got, '\n'); end != block.begin() + got)
        typed_.append(end, static_cast<std::size_t>(block.begin() + got - end));
    return true;
}

std::optional<std::string> Linear::next_line()
{
    const std::size_t end = typed_.find('\n');
    if (end == std::string::npos)
        return {};
    std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    if (line.size() > InputLine::kMost) {
        say(text_of("a line has at most %zu characters; this one was left out", InputLine::kMost));
        return "\x1b"; // no command, no answer
    }
    return line;
}

void Linear::settle()
{
    read_overlays();
    read_news();
    if (!desk_.overlays().empty() || desk_.quits())
        return;
    const bool turned = page_ != shell_.page_name();
    if (turned)
        say(text_of("Page %s. ", shell_.page_name()) + desk_.plan().state().title()
            + (desk_.plan().is_dirty() ? ", not saved" : ""));
    page_ = shell_.page_name();
    if (turned || !shell_.page().is_moving())
        read_out(turned);
}

void Linear::read_overlays()
{
    while (!desk_.overlays().empty()) {
        Overlay& top = *desk_.overlays().back();
        const std::string text = top.read_out();
        if (&top != asked_ || text != question_)
            say_lines(text);
        asked_ = &top;
        question_ = text;
        if (!top.only_tells())
            return;
        top.key({Key::escape});
        shell_.settle_overlays();
        asked_ = nullptr;
    }
    asked_ = nullptr;
    question_.clear();
}

void Linear::read_news()
{
    for (const std::string& line : shell_.page().news())
        say(line);
    if (!desk_.message().empty() && desk_.message() != message_)
        say(desk_.message());
    message_ = desk_.message();
}

void Linear::read_out(bool all)
{
    const std::vector<std::string> now = shell_.page().lines();
    std::vector<std::string>& before = read_[page_];
    std::vector<std::string> old = before;
    for (const std::string& line : now) {
        const auto before_too = std::find(old.begin(), old.end(), line);
        const bool known = before_too != old.end();
        if (known)
            old.erase(before_too);
        if (all || !known)
            say(line);
    }
    before = now;
}

void Linear::take(const std::string& line)
{
    const std::string words(trimmed(line, " \t\r"));
    if (words == "\x1b")
        return;
    if (!desk_.overlays().empty()) {
        asked_ = nullptr; // it is read again where it stays
        desk_.overlays().back()->answer(line);
        shell_.settle_overlays();
        return;
    }
    message_.clear();
    desk_.forget_message();
    if (words.empty())
        page_ = nullptr;
    else if (words == "help")
        say(desk_.keyed(kHelp));
    else if (!take_key(words) && !shell_.page().take_line(words)) {
        std::unique_ptr<Picker> finder = shell_.finder(false); // a word is to mean one command
        finder->answer(words);
        if (finder->finds_nothing()) {
            finder = shell_.finder(); // of another page
            finder->answer(words);
        }
        desk_.open(std::move(finder));
    }
    shell_.settle_overlays();
}

bool Linear::take_key(const std::string& line)
{
    std::string_view rest = line;
    const char32_t letter = next_character(rest);
    if (rest.empty()) {
        shell_.take({Key::character, letter});
        return true;
    }
    const std::string word = lower_case(line);
    for (const NamedKey& named : kNamed) {
        if (word == named.name) {
            shell_.take({named.code});
            return true;
        }
    }
    if (word == "space") {
        shell_.take({Key::character, U' '});
        return true;
    }
    if (word.starts_with("ctrl+") && word.size() == 6) {
        shell_.take({Key::character, static_cast<char32_t>(word.back()), true});
        return true;
    }
    constexpr std::string_view kRow = "row ";
    int row = 0;
    if (!word.starts_with(kRow)
        || std::from_chars(word.data() + kRow.size(), word.data() + word.size(), row).ec != std::errc())
        return false;
    shell_.take({Key::home});
    for (int i = 1; i < std::min(row, 100'000); ++i)
        shell_.take({Key::down});
    return true;
}

} // namespace fourfold::tui
