// SPDX-License-Identifier: GPL-3.0-or-later
// Inside tmux and GNU screen, as they show it themselves, and behind mosh, as its client draws it: real programs
// between the planner and whoever looks.
#include "core/base/shell_word.h"
#include "tests/runner/support.h"
#include "tests/tui/tui_fixture.h"

#include <csignal>
#include <cstdio>
#include <optional>
#include <regex>
#include <sstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
    int status = -1;
    std::string out;
};

// In a shell, as users start them: `words` are quoted, errors are in the output.
Ran run(const std::vector<std::string>& words)
{
    std::string line;
    for (const std::string& word : words)
        line += shell_word(word) + " ";
    Ran ran;
    FILE* const pipe = ::popen((line + "2>&1").c_str(), "r");
    if (pipe == nullptr)
        return ran;
    char buffer[4096];
    for (std::size_t read = 0; (read = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        ran.out.append(buffer, read);
    ran.status = ::pclose(pipe);
    return ran;
}

// A server of the test's own, which ends with it.
class Multiplexer {
public:
    virtual ~Multiplexer() = default;
    [[nodiscard]] virtual std::string text() const = 0; // of the window
    virtual void type(const std::string& keys) const = 0;
    bool shows(const std::string& text) const
    {
        return wait_until([&] { return this->text().find(text) != std::string::npos; }, 60);
    }
};

class Tmux : public Multiplexer {
public:
    Tmux(const std::filesystem::path& folder, const std::vector<std::string>& program)
        : tmux_{"env", "-u", "TMUX", "LC_ALL=C.UTF-8", "TMUX_TMPDIR=" + folder.string(), "tmux", "-f", "/dev/null"}
    {
        std::vector<std::string> begin{"new-session", "-d", "-x", "120", "-y", "40"};
        begin.insert(begin.end(), program.begin(), program.end());
        started_ = call(begin);
    }
    ~Tmux() override { call({"kill-server"}); }
    Tmux(const Tmux&) = delete;
    Tmux& operator=(const Tmux&) = delete;
    [[nodiscard]] std::string text() const override { return call({"capture-pane", "-p"}).out; }
    void type(const std::string& keys) const override { call({"send-keys", "-l", keys}); }
    void resize(int columns, int rows) const
    {
        call({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
    }
    [[nodiscard]] const Ran& started() const { return started_; }
    Ran call(const std::vector<std::string>& arguments) const
    {
        std::vector<std::string> words = tmux_;
        words.insert(words.end(), arguments.begin(), arguments.end());
        return run(words);
    }

private:
    std::vector<std::string> tmux_;
    Ran started_;
};

class Screen : public Multiplexer {
public:
    Screen(const std::filesystem::path& folder, const std::vector<std::string>& program)
        : picture_(folder / "picture.txt")
    {
        const std::filesystem::path sockets = folder / "screens";
        std::filesystem::create_directory(sockets);
        std::filesystem::permissions(sockets, std::filesystem::perms::owner_all); // it takes no other folder
        screen_ = {"env", "-u", "STY", "LC_ALL=C.UTF-8", "SCREENDIR=" + sockets.string(), "screen"};
        std::vector<std::string> begin{"-U", "-c", "/dev/null", "-d", "-m", "-S", "planner"};
        begin.insert(begin.end(), program.begin(), program.end());
        started_ = call(begin);
    }
    ~Screen() override { call({"-S", "planner", "-X", "quit"}); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;
    [[nodiscard]] std::string text() const override
    {
        call({"-S", "planner", "-p", "0", "-X", "hardcopy", picture_.string()});
        std::ifstream file(picture_);
        return (std::stringstream() << file.rdbuf()).str();
    }
    void type(const std::string& keys) const override { call({"-S", "planner", "-p", "0", "-X", "stuff", keys}); }
    [[nodiscard]] const Ran& started() const { return started_; }

private:
    Ran call(const std::vector<std::string>& arguments) const
    {
        std::vector<std::string> words = screen_;
        words.insert(words.end(), arguments.begin(), arguments.end());
        return run(words);
    }

    std::filesystem::path picture_;
    std::vector<std::string> screen_;
    Ran started_;
};

// A server of mosh's on loopback, and its client in tmux.
class Mosh : public Multiplexer {
public:
    Mosh(const std::filesystem::path& folder, const std::vector<std::string>& program)
    {
        // Without a client the server would wait for one.
        std::vector<std::string> begin{"env", "LC_ALL=C.UTF-8", "TERM=xterm-256color", "MOSH_SERVER_NETWORK_TMOUT=120",
            "mosh-server", "new", "-i", "127.0.0.1", "-c", "256", "--"};
        begin.insert(begin.end(), program.begin(), program.end());
        started_ = run(begin);
        static const std::regex kConnect(R"(MOSH CONNECT (\d+) (\S+))"), kProcess(R"(pid = (\d+))");
        std::smatch connect, process;
        if (std::regex_search(started_.out, process, kProcess))
            server_ = std::stoi(process[1]);
        if (std::regex_search(started_.out, connect, kConnect))
            client_.emplace(folder,
                std::vector<std::string>{
                    "env", "MOSH_KEY=" + connect[2].str(), "mosh-client", "127.0.0.1", connect[1].str()});
    }
    ~Mosh() override
    {
        if (server_ > 0)
            ::kill(server_, SIGTERM);
    }
    Mosh(const Mosh&) = delete;
    Mosh& operator=(const Mosh&) = delete;
    [[nodiscard]] bool is_connected() const { return client_ && client_->started().status == 0; }
    [[nodiscard]] std::string text() const override { return client_->text(); }
    void type(const std::string& keys) const override { client_->type(keys); }
    // The server ends with what it runs.
    [[nodiscard]] bool ends() const
    {
        return wait_until([&] { return ::kill(server_, 0) != 0; }, 60);
    }
    [[nodiscard]] const Ran& started() const { return started_; }

private:
    std::optional<Tmux> client_;
    pid_t server_ = -1;
    Ran started_;
};

class TuiMultiplexers : public Tui {
protected:
    // The planner with its folders, which a server that was started before would not hand on.
    [[nodiscard]] std::vector<std::string> planner() const
    {
        std::vector<std::string> words{"env"};
        for (const auto& [name, value] : options().environment)
            words.push_back(name + "=" + value);
        for (const std::string& word : fixed())
            words.push_back(word);
        return words;
    }
    static void work_with(const Multiplexer& inside)
    {
        ASSERT_TRUE(inside.shows("Fits.")) << inside.text();
        EXPECT_TRUE(inside.shows("Tensor (TP)")) << inside.text();
        inside.type("?");
        EXPECT_TRUE(inside.shows("Apply what helps most")) << inside.text();
        inside.type("\033");
        EXPECT_TRUE(wait_until([&] { return inside.text().find("Apply what helps most") == std::string::npos; }, 60));
        inside.type("4"); // the runs
        EXPECT_TRUE(inside.shows("Steps")) << inside.text();
    }
};

TEST_F(TuiMultiplexers, WorksInsideTmux)
{
    const Tmux tmux(folder_.path(), planner());
    ASSERT_EQ(tmux.started().status, 0) << tmux.started().out;
    work_with(tmux);
    tmux.type("1");
    ASSERT_TRUE(tmux.shows("Fits."));
    tmux.resize(80, 24);
    ASSERT_TRUE(wait_until([&] { return tmux.text().find("q quit") != std::string::npos; }, 60)) << tmux.text();
    std::istringstream rows(tmux.text());
    for (std::string row; std::getline(rows, row);)
        EXPECT_THAT(row, Not(HasSubstr("\xef\xbf\xbd"))) << "a character that was cut";
}

TEST_F(TuiMultiplexers, WorksInsideScreen)
{
    const Screen screen(folder_.path(), planner());
    ASSERT_EQ(screen.started().status, 0) << screen.started().out;
    work_with(screen);
}

TEST_F(TuiMultiplexers, WorksBehindMosh)
{
    const Mosh mosh(folder_.path(), planner());
    ASSERT_TRUE(mosh.is_connected()) << mosh.started().out;
    work_with(mosh);
    mosh.type("1");
    ASSERT_TRUE(mosh.shows("Fits."));
    EXPECT_THAT(mosh.text(), Not(HasSubstr("\xef\xbf\xbd"))) << "a character that was cut";
    mosh.type("q");
    EXPECT_TRUE(mosh.ends()) << mosh.text();
}

} // namespace
} // namespace fourfold::test
