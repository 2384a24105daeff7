// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fourfold::test {

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void redirect(const fs::path& file, int flags, int descriptor)
{
    const int opened = ::open(file.c_str(), flags, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0)
        ::_exit(126);
}

} // namespace

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

ProgramTest::ProgramTest()
{
    std::string pattern = (fs::temp_directory_path() / "fourfold-cli-XXXXXX").string();
    folder_ = fs::canonical(::mkdtemp(pattern.data()));
}

ProgramTest::~ProgramTest()
{
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

std::string ProgramTest::Started::error_text() const
{
    return read(err);
}

ProgramTest::Started ProgramTest::start(const std::vector<std::string>& arguments, const std::string& input) const
{
    const fs::path in = folder_ / ".in", out = folder_ / ".out", err = folder_ / ".err";
    std::ofstream(in, std::ios::binary) << input;
    for (const fs::path& old : {out, err})
        fs::remove(old);
    const std::string program = program_.string();
    const pid_t child = ::fork();
    if (child == 0) {
        for (const auto& [name, value] : std::map<std::string, fs::path>{{"XDG_DATA_HOME", folder_ / "data"},
                 {"XDG_CONFIG_HOME", folder_ / "config"}, {"XDG_CACHE_HOME", folder_ / "cache"}})
            ::setenv(name.c_str(), value.c_str(), 1);
        if (standard_input_ >= 0)
            ::dup2(standard_input_, 0);
        else
            redirect(in, O_RDONLY, 0);
        redirect(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
        redirect(err, O_WRONLY | O_CREAT | O_TRUNC, 2);
        std::vector<char*> words{const_cast<char*>(program.c_str())};
        for (const std::string& argument : arguments)
            words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        if (::chdir(folder_.c_str()) == 0)
            ::execv(program.c_str(), words.data());
        ::_exit(127);
    }
    return {child, out, err};
}

Output ProgramTest::finish(const Started& started)
{
    int status = 0;
    ::waitpid(started.process, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(started.out), read(started.err)};
}

Output ProgramTest::fourfold(const std::vector<std::string>& arguments, const std::string& input) const
{
    return finish(start(arguments, input));
}

int processes_with(const std::string& variable)
{
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string environment = '\0' + read(entry.path() / "environ");
        count += environment.find('\0' + variable + '\0') != std::string::npos;
    }
    return count;
}

std::string ProgramTest::file(const std::string& name, const std::string& content) const
{
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
}

void ProgramTest::expect_problem(const Output& output, int status, const std::string& text)
{
    EXPECT_EQ(output.status, status) << output.err;
    EXPECT_EQ(output.out, "");
    const auto lines = lines_of(output.err);
    ASSERT_EQ(lines.size(), 1u) << output.err;
    EXPECT_TRUE(lines[0].starts_with("fourfold: ")) << lines[0];
    EXPECT_THAT(lines[0], ::testing::HasSubstr(text));
}

std::string plan_text(const char* edits)
{
    Json plan = Json::parse(R"({
        "name": "test plan", "model": "llama-3.1-8b", "cluster": "tsubame4", "gpus": 16, "stack": "megatron-lm",
        "layout": {"tp": 2, "pp": 1, "dp": 8},
        "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 64, "sharding": "optimizer"}})");
    plan.merge_patch(Json::parse(edits));
    return plan.dump();
}

Json json_of(const Output& output)
{
    Json json = Json::parse(output.out, nullptr, false);
    if (json.is_discarded())
        throw std::runtime_error("no JSON on standard output: " + output.out + "; standard error: " + output.err);
    return json;
}

} // namespace fourfold::test
