// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/tui/terminal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace fourfold::test {

TerminalProgram::TerminalProgram(const std::vector<std::string>& command, const Options& options)
    : grid_(options.rows, options.columns)
{
    winsize size{static_cast<unsigned short>(options.rows), static_cast<unsigned short>(options.columns), 0, 0};
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (process_ == 0) {
        unsetenv("LINES");
        unsetenv("COLUMNS");
        unsetenv("NO_COLOR");
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        for (const auto& [key, value] : options.environment)
            setenv(key.c_str(), value.c_str(), 1);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    // Another program that kept it open would keep this one from being hung up.
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

TerminalProgram::~TerminalProgram()
{
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    if (terminal_ >= 0)
        close(terminal_);
}

bool TerminalProgram::read_some(std::chrono::milliseconds patience)
{
    if (terminal_ < 0)
        return false;
    pollfd source{terminal_, POLLIN, 0};
    if (poll(&source, 1, static_cast<int>(patience.count())) <= 0)
        return false;
    char block[65536];
    const ssize_t got = read(terminal_, block, sizeof block);
    if (got <= 0)
        return false;
    const std::string bytes(block, static_cast<std::size_t>(got));
    bytes_ += bytes;
    grid_.feed(bytes);
    answers_ += grid_.take_answers();
    answer();
    return true;
}

void TerminalProgram::answer()
{
    if (keeps_answers_ || answers_.empty() || terminal_ < 0)
        return;
    (void)!write(terminal_, answers_.data(), answers_.size());
    answers_.clear();
}

void TerminalProgram::keep_answers(bool kept)
{
    keeps_answers_ = kept;
    answer();
}

void TerminalProgram::type_unread(const std::string& keys)
{
    (void)!write(terminal_, keys.data(), keys.size());
}

void TerminalProgram::type(const std::string& keys)
{
    std::size_t sent = 0;
    while (sent < keys.size()) {
        const ssize_t written = write(terminal_, keys.data() + sent, std::min<std::size_t>(keys.size() - sent, 4096));
        if (written > 0)
            sent += static_cast<std::size_t>(written);
        while (read_some(std::chrono::milliseconds(0))) { }
    }
}

bool TerminalProgram::reads_until(const std::function<bool()>& holds, std::chrono::milliseconds patience)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        read_some(std::chrono::milliseconds(50));
    }
    return true;
}

bool TerminalProgram::shows(const std::string& text, std::chrono::milliseconds patience)
{
    return reads_until([&] { return grid_.text().find(text) != std::string::npos; }, patience);
}

bool TerminalProgram::asks_for(const std::string& text, std::chrono::milliseconds patience)
{
    const auto has_text = [&text](const std::string& request) { return request.find(text) != std::string::npos; };
    return reads_until([&] { return std::ranges::any_of(grid_.requests(), has_text); }, patience);
}

void TerminalProgram::click(int row, int column)
{
    drag(row, column, column);
}

void TerminalProgram::drag(int row, int from, int to)
{
    const auto tell = [&](int button, int column, char kind) {
        type("\033[<" + std::to_string(button) + ";" + std::to_string(column + 1) + ";" + std::to_string(row + 1)
            + kind);
    };
    tell(0, from, 'M');
    if (from != to) {
        tell(32, (from + to) / 2, 'M');
        tell(32, to, 'M');
    }
    tell(0, to, 'm');
}

bool TerminalProgram::hides(const std::string& text, std::chrono::milliseconds patience)
{
    return reads_until([&] { return grid_.text().find(text) == std::string::npos; }, patience);
}

bool TerminalProgram::says(const std::string& text, std::chrono::milliseconds patience)
{
    return reads_until([&] { return bytes_.find(text) != std::string::npos; }, patience);
}

std::size_t TerminalProgram::settle(std::chrono::milliseconds quiet)
{
    const std::size_t before = bytes_.size();
    while (read_some(quiet)) { }
    return bytes_.size() - before;
}

void TerminalProgram::resize(int rows, int columns)
{
    grid_.resize(rows, columns);
    winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
}

void TerminalProgram::send_signal(int number) const
{
    kill(process_, number);
}

void TerminalProgram::hang_up()
{
    close(terminal_);
    terminal_ = -1;
}

int TerminalProgram::wait(std::chrono::milliseconds patience, bool hangs)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    for (int status = 0; std::chrono::steady_clock::now() < end;) {
        if (waitpid(process_, &status, WNOHANG) == process_) {
            while (read_some(std::chrono::milliseconds(20))) { }
            process_ = -1;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        }
        if (hangs || !read_some(std::chrono::milliseconds(20)))
            usleep(10'000);
    }
    return -1000;
}

bool TerminalProgram::echoes() const
{
    termios now{};
    return tcgetattr(terminal_, &now) == 0 && (now.c_lflag & ECHO) != 0 && (now.c_lflag & ICANON) != 0;
}

} // namespace fourfold::test
