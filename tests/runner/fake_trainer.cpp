// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for the trainer in the runner's tests: speaks its contract (environment, arguments, rank<r>.jsonl, exit
// status), trains nothing, and misbehaves as FAKE_* variables ask.
// clang-format off
//   FAKE_STEPS, FAKE_STEP_MS      how long it runs; FAKE_STEP_US instead of milliseconds
//   FAKE_RATE=n                   instead: n steps a second, by the clock
//   FAKE_EVENT_BYTES=n            an event of n bytes in step 5
//   FAKE_TWO_HOSTS=1              its start names a host of its own for each of two ranks
//   FAKE_FAIL_RANK, FAKE_FAIL_STEP, FAKE_HOW = exit37 | kill | segv | oom | bad-alloc | full-disk | tell-and-hang |
//                                 hang | pause (SIGSTOP)
//   FAKE_TOLD_RANK=n              leaves in that step as one that was told, FAKE_TOLD_MS (300) before FAKE_FAIL_RANK
//                                 fails; FAKE_TOLD_TEXT: what it was told
//   FAKE_LOST_RANK=n              reports in that step that it misses a rank, FAKE_TOLD_MS before FAKE_FAIL_RANK fails
//   FAKE_CHILDREN=1               each rank leaves a helper, a setsid child and a double-forked daemon, deaf to SIGTERM
//   FAKE_IGNORE_TERM=1            ranks ignore SIGTERM
//   FAKE_SAVE_MS=n                on SIGTERM a rank ends its step, writes `saved<rank>` for n milliseconds and leaves
//   FAKE_RUBBISH=1                lines that are no events, control characters, a line of 2 MiB
//   FAKE_FILL_BYTES=n             writes n bytes into the run folder before the first step
//   FAKE_PROGRESS=1               shares its last collective; ranks that do not fail wait in it for a rank that hangs
//   FAKE_PRINT_BYTES=n            prints n bytes without a newline, with NUL and escape codes, before the first step
//   FAKE_SECRET=NAME              writes the length of that variable into its log
//   FAKE_CHECKPOINT=PATH          tells of a checkpoint there in its first step
//   FAKE_EXPERTS=1                its steps tell how experts are loaded
//   FAKE_ALERT_STEP=n             its watch reports a loss in that step and the next, now; FAKE_ALERT_ACTION
//                                 (warn): what it does
//   FAKE_TRACE=1                  a traced step behind its last one
//   FAKE_FAILS_UNLOADED=1         fails (is told, misses a rank) only where the plan loads no checkpoint
//   FAKE_REHEARSAL=JSON           what a rehearsal says (of the client's environment); default: all is well
//   FAKE_LEFTOVER=1               leaves a daemon behind and ends well
// clang-format on
#include "runner/protocol/progress_page.h"
#include "runner/trainer/metrics/stack_dump.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>
#include <string>
#include <thread>

namespace {

std::string variable(const char* name, const char* fallback = "")
{
    const char* value = std::getenv(name);
    return value ? value : fallback;
}

volatile sig_atomic_t asked_to_stop = 0;

// As a rank that saves: bytes go out all the time, and the last ones are its mark that the save is whole.
[[noreturn]] void save_and_leave(const std::string& file, int save_ms)
{
    std::ofstream out(file, std::ios::binary);
    const std::string block(1 << 18, 's');
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(save_ms);
    while (std::chrono::steady_clock::now() < end) {
        out.seekp(0);
        out << block << std::flush;
        usleep(20000);
    }
    std::ofstream(file + ".whole") << "whole";
    _exit(143);
}

[[noreturn]] void sleep_for_ever()
{
    for (;;)
        pause();
}

void spawn_daemon()
{
    const pid_t middle = fork();
    if (middle == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            sleep_for_ever();
        }
        _exit(0);
    }
    waitpid(middle, nullptr, 0);
}

void spawn_children()
{
    if (fork() == 0)
        sleep_for_ever();
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        sleep_for_ever();
    }
    spawn_daemon();
}

// What the trainer says of the hosts of two ranks.
std::string two_hosts()
{
    if (variable("FAKE_TWO_HOSTS") != "1")
        return {};
    return ",\"hosts\":[{\"rank\":0,\"host\":\"node-a\"},{\"rank\":1,\"host\":\"node-b\"}]";
}

// "2026-01-01T00:00:00.000Z"
std::string time_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    char text[40];
    gmtime_r(&now, &utc);
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000Z", &utc)};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::string(argv[1]) == "--rehearse") {
        const char* verdict = std::getenv("FAKE_REHEARSAL");
        std::puts(verdict ? verdict : R"({"verdict": "ok", "problem": null, "problems": [], "stages": []})");
        return 0;
    }
    std::string folder, plan;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::string(argv[i]) == "--run-dir")
            folder = argv[i + 1];
        if (std::string(argv[i]) == "--plan")
            plan = argv[i + 1];
    }
    const int rank = std::atoi(variable("RANK", "-1").c_str());
    if (rank < 0 || folder.empty() || access(plan.c_str(), R_OK) != 0 || variable("MASTER_PORT", "0") == "0"
        || variable("MASTER_ADDR").empty() || variable("FOURFOLD_RUN").empty()) {
        std::cerr << "the launcher's contract is not kept\n";
        return 2;
    }
    std::cout << "rank " << rank << " of " << variable("WORLD_SIZE") << " on " << variable("FOURFOLD_ADDRESS") << ", "
              << variable("FAKE_NOTE") << std::endl;
    if (variable("FAKE_IGNORE_TERM") == "1")
        signal(SIGTERM, SIG_IGN);
    const int save_ms = std::atoi(variable("FAKE_SAVE_MS", "0").c_str());
    if (save_ms > 0)
        signal(SIGTERM, [](int) { asked_to_stop = 1; });
    if (variable("FAKE_CHILDREN") == "1")
        spawn_children();
    const std::string file = folder + "/rank" + std::to_string(rank) + ".jsonl";
    const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const auto say = [&](const std::string& line) {
        const std::string whole = line + "\n";
        if (write(out, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
            _exit(9);
    };
    const std::string head = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"rank\":" + std::to_string(rank) + ",\"event\":";
    if (const long bytes = std::atol(variable("FAKE_FILL_BYTES", "0").c_str()); bytes > 0) {
        const int fill = open((folder + "/fill" + std::to_string(rank)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const std::string block(4096, 'f');
        for (long written = 0; written < bytes; written += 4096) {
            if (write(fill, block.data(), block.size()) <= 0)
                break;
        }
        close(fill);
    }
    if (rank == 0)
        say(head + "\"start\",\"versions\":{\"fourfold-trainer\":\"fake\"}" + two_hosts() + "}");
    if (variable("FAKE_RUBBISH") == "1") {
        say("this is no event");
        say("[1,2,3]");
        say(std::string("{\"event\":\"step\",\"x\":\"") + '\x01' + "\xff\"}");
        say(head + "\"warning\",\"message\":\"" + std::string(2u << 20, 'x') + "\"}");
        say(head + "\"end\",\"status\":\"ok\"}");
        say("{\"seq\":77,\"agent\":true,\"rank\":9,\"event\":\"warning\",\"message\":\"forged\"}");
    }
    if (const long bytes = std::atol(variable("FAKE_PRINT_BYTES", "0").c_str()); bytes > 0) {
        const std::string block = std::string("\x1b[31mred\0\xff", 10) + std::string(4086, 'p');
        for (long written = 0; written < bytes; written += 4096)
            std::cout << block;
        std::cout << "\nthe last words" << std::endl;
    }
    if (const std::string secret = variable("FAKE_SECRET"); !secret.empty())
        std::cout << "secret of " << variable(secret.c_str()).size() << " bytes" << std::endl;
    std::ifstream plan_file(plan);
    const std::string plan_text{std::istreambuf_iterator<char>(plan_file), {}};
    const bool spared = variable("FAKE_FAILS_UNLOADED") == "1" && plan_text.find(R"("load":"/)") != std::string::npos;
    const bool hears = !spared && rank == std::atoi(variable("FAKE_TOLD_RANK", "-1").c_str());
    const bool misses = !spared && rank == std::atoi(variable("FAKE_LOST_RANK", "-1").c_str());
    fourfold::ProgressWriter progress(variable("FAKE_PROGRESS") == "1" || hears || variable("FAKE_HOW") == "full-disk"
                || variable("FAKE_HOW") == "tell-and-hang"
            ? folder + "/rank" + std::to_string(rank) + ".progress"
            : "");
    if (variable("FAKE_PROGRESS") == "1")
        fourfold::trainer::install_stack_dump(folder + "/rank" + std::to_string(rank) + ".stack");
    const int steps = std::atoi(variable("FAKE_STEPS", "5").c_str());
    const int pause_ms = std::atoi(variable("FAKE_STEP_MS", "5").c_str());
    const std::string own_us = variable("FAKE_STEP_US");
    const auto pause_us = static_cast<useconds_t>(own_us.empty() ? pause_ms * 1000 : std::atoi(own_us.c_str()));
    const auto event_bytes = static_cast<std::size_t>(std::atol(variable("FAKE_EVENT_BYTES", "0").c_str()));
    const int fail_rank = spared ? -1 : std::atoi(variable("FAKE_FAIL_RANK", "-1").c_str());
    const int fail_step = std::atoi(variable("FAKE_FAIL_STEP", "2").c_str());
    const std::string how = variable("FAKE_HOW");
    const double rate = std::atof(variable("FAKE_RATE", "0").c_str());
    const auto begin = std::chrono::steady_clock::now();
    for (int step = 1; step <= steps; ++step) {
        if (asked_to_stop)
            save_and_leave(folder + "/saved" + std::to_string(rank), save_ms);
        if (rate > 0)
            std::this_thread::sleep_until(begin + std::chrono::duration<double>(step / rate));
        else if (pause_us > 0) // a pause of nothing takes longer than writing an event
            usleep(pause_us);
        if (rank == 0 && step == 5 && event_bytes > 0)
            say(head + "\"warning\",\"message\":\"" + std::string(event_bytes, 'w') + "\"}");
        if (const int at = std::atoi(variable("FAKE_ALERT_STEP", "-1").c_str());
            rank == 0 && (step == at || step == at + 1))
            say(R"({"time":")" + time_now() + R"(","rank":0,"event":"warning","step":)" + std::to_string(step)
                + R"(,"message":"the loss 9 stands out","watch":{"of":"loss","value":9,"mean":1,"limit":2,"action":")"
                + variable("FAKE_ALERT_ACTION", "warn") + "\"}}");
        if (const std::string path = variable("FAKE_CHECKPOINT"); rank == 0 && step == 1 && !path.empty())
            say(head + R"("checkpoint","step":1,"bytes":64,"time_s":0.5,"stopped_s":0.1,"path":")" + path + "\"}");
        if (hears && step == fail_step) {
            progress.fail({fourfold::FailureOrigin::told, "fail", variable("FAKE_TOLD_TEXT", "another rank failed")});
            std::cout << "rank " << rank << ": stopped, as another rank failed" << std::endl;
            return 1;
        }
        if (misses && step == fail_step) {
            say(head + R"("error","kind":"fail","origin":"lost_rank","message":"lost rank )" + std::to_string(fail_rank)
                + "\"}");
            return 1;
        }
        if (rank == fail_rank && step == fail_step) {
            if (!variable("FAKE_TOLD_RANK").empty() || !variable("FAKE_LOST_RANK").empty())
                usleep(static_cast<useconds_t>(std::atoi(variable("FAKE_TOLD_MS", "300").c_str()) * 1000));
            std::cout << "something went wrong in step " << step << std::endl;
            if (how == "kill")
                raise(SIGKILL);
            if (how == "segv") {
                signal(SIGSEGV, SIG_DFL);
                raise(SIGSEGV);
            }
            if (how == "bad-alloc")
                throw std::bad_alloc(); // as while libraries are loaded: nobody catches it, nothing more is said
            if (how == "oom") {
                say(head + "\"error\",\"kind\":\"oom\",\"message\":\"out of memory in layer 3\"}");
                return 1;
            }
            if (how == "full-disk" || how == "tell-and-hang") { // no event can be written any more
                progress.fail({fourfold::FailureOrigin::own, "fail", "cannot write it: No space left on device"});
                if (how == "full-disk")
                    return 1;
                signal(SIGTERM, SIG_IGN);
                sleep_for_ever();
            }
            if (how == "hang")
                sleep_for_ever();
            if (how == "pause")
                raise(SIGSTOP);
            return 37;
        }
        const auto number = static_cast<uint64_t>(step);
        progress.begin(number, number, "all_reduce of 64 bytes in group world (ranks 0 1)", "world ranks 0 1");
        if (step == fail_step && fail_rank >= 0 && (how == "hang" || how == "pause"))
            sleep_for_ever(); // the peer never comes
        progress.end();
        if (rank == 0) {
            char text[768];
            std::snprintf(text, sizeof text,
                "%s\"step\",\"step\":%d,\"loss\":%.6f,\"grad_norm\":1.5,\"learning_rate\":0.001,\"step_time_s\":%.4f,"
                "\"tps_per_gpu\":%.3f,\"tflops_per_gpu\":0.5,\"mfu\":0.1,\"memory_peak_gib\":0.25,\"tokens\":%d,"
                "\"ranks\":{\"memory_peak_gib\":{\"min\":0.125,\"median\":0.1875,\"max\":0.25,\"worst_rank\":1},"
                "\"step_time_s\":{\"min\":%.4f,\"median\":%.4f,\"max\":%.4f,\"worst_rank\":0}}%s}",
                head.c_str(), step, 5.0 / step, pause_ms / 1000.0, 1000.0 + step % 7, step * 256, pause_ms / 1000.0,
                pause_ms / 1000.0, pause_ms / 800.0,
                variable("FAKE_EXPERTS") == "1" ? R"(,"experts":{"busiest":1.5,"layer":3,"idle":2,"dropped":0.25})"
                                                : "");
            say(text);
        }
    }
    if (rank == 0 && variable("FAKE_TRACE") == "1")
        say(head + R"("trace","step":)" + std::to_string(steps)
            + R"(,"traceEvents":[{"cat":"forward","ph":"X","tid":0,"ts":0,"dur":2000,"args":{"micro_batch":0,"chunk":0}},)"
              R"({"cat":"backward","ph":"X","tid":0,"ts":2000,"dur":4000,"args":{"micro_batch":0,"chunk":0}}],)"
              R"("otherData":{"step_time_s":0.006}})");
    if (variable("FAKE_LEFTOVER") == "1")
        spawn_daemon();
    return 0;
}
