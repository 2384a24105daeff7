// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui` on a pseudo-terminal: start, key to answer, bytes sent, memory. The plan of the edits is Llama 3.1
// 405B on 16,384 GPUs; live frames are of a run on this computer with a trainer that trains nothing.
//   bench_tui [ROUNDS]
#include "core/base/json.h"
#include "core/base/text.h"
#include "tests/bench/tui_bench.h"
#include "tests/tui/fake_programs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace {

using namespace fourfold;
using namespace test;

double resident_mib(pid_t process)
{
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:"))
            return std::atof(line.c_str() + 6) / 1024;
    }
    return 0;
}

void fail(const char* what, const TerminalProgram& program)
{
    std::fprintf(stderr, "%s\n%s\n", what, program.grid().text().c_str());
    std::exit(1);
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 40;
    std::string pattern = (std::filesystem::temp_directory_path() / "bench-tui-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(pattern.data());
    const std::string fourfold = test::put_fake_programs(folder / "bin").string();
    std::ofstream(folder / "large.plan.json") << kLargePlan;
    test::put_tiny_plan(folder, 1'000'000, 20);
    const auto open = [&](const char* plan, int rows, int columns) {
        return std::make_unique<TerminalProgram>(std::vector<std::string>{fourfold, "tui", (folder / plan).string()},
            TerminalProgram::Options{rows, columns,
                {{"XDG_DATA_HOME", (folder / "data").string()}, {"XDG_CONFIG_HOME", (folder / "config").string()}}});
    };

    std::vector<double> starts, answers, edit_bytes, move_bytes, frame_bytes;
    for (int i = 0; i < rounds; ++i) {
        const auto begin = Clock::now();
        const auto program = open("large.plan.json", 40, 120);
        while (row_with(*program, "Throughput").find_first_of("0123456789") == std::string::npos) {
            if (milliseconds_since(begin) > 20'000)
                fail("no answer", *program);
            program->read_some(std::chrono::milliseconds(50));
        }
        starts.push_back(milliseconds_since(begin));
    }
    report("start to the first answer", starts, "ms");

    {
        const auto program = open("large.plan.json", 40, 120);
        if (!program->shows("16,384"))
            fail("no answer", *program);
        program->type("jjjjj");
        program->settle();
        for (int i = 0; i < 4 * rounds; ++i) {
            const std::string before = row_with(*program, "Throughput");
            const std::size_t sent = program->bytes().size();
            const auto begin = Clock::now();
            program->type(i % 2 == 0 ? "-" : "+");
            while (row_with(*program, "Throughput") == before) {
                if (milliseconds_since(begin) > 10'000)
                    fail("no new answer", *program);
                program->read_some(std::chrono::milliseconds(50));
            }
            answers.push_back(milliseconds_since(begin));
            program->settle(std::chrono::milliseconds(100));
            edit_bytes.push_back(double(program->bytes().size() - sent));
        }
        for (int i = 0; i < rounds; ++i) {
            const std::size_t sent = program->bytes().size();
            program->type(i % 2 == 0 ? "j" : "k");
            program->settle(std::chrono::milliseconds(100));
            move_bytes.push_back(double(program->bytes().size() - sent));
        }
        report("key to the new answer, 405B on 16,384 GPUs", answers, "ms");
        report("bytes of an edit: every figure, bars, timeline", edit_bytes, "bytes");
        report("bytes of a step in the list: two rows, one remark", move_bytes, "bytes");
        std::printf("%-48s %.1f MiB resident\n", "after these edits", resident_mib(program->process()));
    }
    {
        const auto program = open("tiny.plan.json", 40, 120);
        if (!program->shows("Tensor (TP)"))
            fail("no plan", *program);
        program->type("4sy");
        if (!program->shows("Running"))
            fail("no run", *program);
        program->settle(std::chrono::milliseconds(1)); // what is there
        const auto warm = Clock::now();
        while (milliseconds_since(warm) < 5000) // until the charts have their shape
            program->read_some(std::chrono::milliseconds(20));
        for (int i = 0; i < 100; ++i) {
            const std::size_t sent = program->bytes().size();
            const auto begin = Clock::now();
            while (milliseconds_since(begin) < 100)
                program->read_some(std::chrono::milliseconds(5));
            frame_bytes.push_back(double(program->bytes().size() - sent));
        }
        report("bytes of a tenth of a second of live charts", frame_bytes, "bytes");
        std::printf("%-48s %.1f MiB resident\n", "with a live run", resident_mib(program->process()));
        program->type("xy");
        if (!program->shows("Stopped"))
            fail("the run was not stopped", *program);
    }
    std::filesystem::remove_all(folder);
    return 0;
}
