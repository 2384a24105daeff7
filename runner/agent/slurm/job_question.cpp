// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/job_question.h"

#include "runner/agent/system/file_descriptor.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fourfold {

namespace {

std::string text_of(const SlurmJob& job)
{
    return to_wire({{"state", job.state}, {"reason", job.reason}, {"nodes", job.nodes}, {"preempted", job.preempted},
        {"restarts", job.restarts}, {"end_time", job.end_time}, {"answered", job.answered}});
}

SlurmJob job_of(const std::string& text)
{
    const auto json = parse_json(text, "Slurm");
    if (!json || !json->is_object())
        return {};
    return {text_field(*json, "state"), text_field(*json, "reason"), text_field(*json, "nodes"),
        json->value("preempted", false), static_cast<int>(integer_field(*json, "restarts")),
        integer_field(*json, "end_time"), json->value("answered", false)};
}

} // namespace

JobQuestion::~JobQuestion()
{
    close();
}

void JobQuestion::ask(const std::string& job)
{
    int ends[2];
    if (is_open() || pipe2(ends, O_CLOEXEC) != 0)
        return;
    FileDescriptor in(ends[0]), out(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)write_fully(out.get(), text_of(look_at_job(job)));
        _exit(0);
    }
    if (pid < 0)
        return;
    fcntl(in.get(), F_SETFL, O_NONBLOCK);
    process_ = pid;
    answer_ = std::move(in);
    text_.clear();
}

std::optional<SlurmJob> JobQuestion::answer()
{
    if (!is_open())
        return {};
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t got = read(answer_.get(), block.data(), block.size());
        if (got > 0) {
            text_.append(block.data(), static_cast<std::size_t>(got));
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return {};
        break;
    }
    close();
    return job_of(text_);
}

void JobQuestion::close()
{
    if (!is_open())
        return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
    answer_.close();
}

} // namespace fourfold
