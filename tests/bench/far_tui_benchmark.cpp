// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui` on a login node 100 ms away, through ssh, a real sshd in a network namespace and a line of 1 Mbit/s:
// what a key takes beyond the line, and whether frames queue behind typing ahead and behind a key that is held.
//   bench_far_tui [ROUNDS] [PROGRAM]
#include "tests/bench/tui_bench.h"
#include "tests/cluster/delay_line.h"
#include "tests/cluster/netns.h"
#include "tests/runner/sshd.h"

#include <cstdlib>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

using namespace std::chrono_literals;
constexpr double kRoundTrip = 100, kMegabits = 1; // ms; each way

// Reads until nothing came for `quiet`; when the last byte came.
Clock::time_point last_byte(TerminalProgram& program, std::chrono::milliseconds quiet)
{
    auto last = Clock::now();
    while (Clock::now() - last < quiet) {
        if (program.read_some(5ms))
            last = Clock::now();
    }
    return last;
}

double milliseconds(Clock::duration duration)
{
    return std::chrono::duration<double, std::milli>(duration).count();
}

// One key at a time: all of it, what the line takes of it (both ways and its bytes), and what is left.
void one_key(TerminalProgram& program, const char* what, const std::string& keys, int rounds)
{
    std::vector<double> totals, bytes, beyond;
    for (int i = 0; i < rounds; ++i) {
        const std::size_t sent = program.bytes().size();
        const auto begin = Clock::now();
        program.type(keys.substr(static_cast<std::size_t>(i) % keys.size(), 1));
        while (program.bytes().size() == sent)
            program.read_some(5ms);
        const double total = milliseconds(last_byte(program, 200ms) - begin); // advice comes after 250 ms of stillness
        const auto got = double(program.bytes().size() - sent);
        totals.push_back(total);
        bytes.push_back(got);
        beyond.push_back(total - kRoundTrip - got * 8 / (kMegabits * 1000));
        last_byte(program, 800ms);
    }
    std::printf("%s\n", what);
    report("  key to the whole new frame", totals, "ms");
    report("  bytes of it", bytes, "bytes");
    report("  beyond round trip and bytes at 1 Mbit/s", beyond, "ms");
}

// Two keys that lead elsewhere: how long it takes until their answer is there. The way back is not counted.
double answer_of_the_last(TerminalProgram& program)
{
    const auto begin = Clock::now();
    program.type("--");
    while (row_with(program, " Tensor (TP)    2").empty() && milliseconds_since(begin) < 60'000)
        program.read_some(2ms);
    const double taken = milliseconds_since(begin);
    last_byte(program, 1s);
    program.type("++");
    last_byte(program, 1s);
    return taken;
}

void typed_ahead(TerminalProgram& program, int rounds)
{
    std::vector<double> totals;
    for (int i = 0; i < rounds; ++i) {
        for (int key = 0; key < 18; ++key)
            program.type(key % 2 == 0 ? "-" : "+");
        totals.push_back(answer_of_the_last(program));
    }
    report("20 keys typed ahead: to the answer of the last", totals, "ms");
}

// 30 keys a second for `seconds`, then two that lead elsewhere.
void held(TerminalProgram& program, int seconds)
{
    const std::size_t sent = program.bytes().size();
    auto next = Clock::now();
    const auto begin = next;
    for (int key = 0; key < 30 * seconds; ++key, next += 33'333us) {
        while (Clock::now() < next)
            program.read_some(2ms);
        program.type(key % 2 == 0 ? "+" : "-");
    }
    const double kilobytes = double(program.bytes().size() - sent) / 1000, took = milliseconds_since(begin) / 1000;
    std::printf("a key held for %.1f s (%.1f kB): the next key's answer is there after %.0f ms\n", took, kilobytes,
        answer_of_the_last(program));
}

int measure(int argc, char** argv)
{
    const int rounds = (argc > 1 ? std::atoi(argv[1]) : 20) / 2 * 2; // there and back
    const std::string fourfold = argc > 2 ? argv[2] : FOURFOLD_BIN_DIR "/fourfold";
    std::string why = why_no_sshd();
    if (why.empty())
        why = why_no_namespaces();
    if (!why.empty()) {
        std::printf("nothing was measured: %s\n", why.c_str());
        return 77;
    }
    const Home home;
    Namespaces net(1);
    const DelayLine line({"", "10.231.78.100/24"}, {net.node(1), "10.231.78.1/24"}, kRoundTrip / 2, kMegabits);
    if (!net.good() || !line.good()) {
        std::printf("the line could not be set up (is /dev/net/tun there?)\n");
        return 77;
    }
    Sshd node(home, "far", {"10.231.78.1", 22, net.node(1)});
    node.start();
    std::ofstream(home.path() / "large.plan.json") << kLargePlan;
    const std::string folder = home.path().string();
    const auto begin = Clock::now();
    TerminalProgram program(login_command(home, node,
                                "env LC_ALL=C.UTF-8 XDG_DATA_HOME=" + folder + "/data XDG_CONFIG_HOME=" + folder
                                    + "/config " + fourfold + " tui " + folder + "/large.plan.json"),
        {40, 120, {}});
    if (!program.shows("16,384")) {
        std::printf("no answer\n%s\n", program.grid().text().c_str());
        return 1;
    }
    std::printf("login, start and first answer: %.0f ms\n", milliseconds_since(begin));
    last_byte(program, 1s);
    one_key(program, "A step in the list", "jk", rounds);
    program.type("jjjjj");
    last_byte(program, 1s);
    one_key(program, "An edit, 405B on 16,384 GPUs: every figure, the bars, the timeline", "-+", rounds);
    typed_ahead(program, std::max(1, rounds / 4));
    for (const int seconds : {2, 5, 10})
        held(program, seconds);
    program.type("q");
    last_byte(program, 300ms);
    program.type("d");
    return program.wait() == 0 ? 0 : 1;
}

} // namespace
} // namespace fourfold::test

int main(int argc, char** argv)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return fourfold::test::measure(argc, argv);
}
