// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/job.h"

#include "runner/net/proof.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace fourfold::trainer {

namespace {
std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

// What is read once is not there for a child, nor for who looks at this process's environment later.
std::string take_secret(const char* name)
{
    char* const value = std::getenv(name);
    if (!value)
        return {};
    std::string text = value;
    std::fill_n(value, text.size(), '0');
    unsetenv(name);
    return text;
}

Expected<int> number(const char* name, int fallback, int low, int high)
{
    const std::string text = variable(name);
    if (text.empty())
        return fallback;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
        return Problem{ProblemCode::bad_input,
            "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) + ", got \"" + text
                + "\"",
            "", std::string("environment variable ") + name};
    return value;
}
} // namespace

Expected<Job> job_from_environment(std::filesystem::path plan_file, std::filesystem::path run_folder)
{
    constexpr int kMostRanks = 1 << 20;
    Job job;
    job.plan_file = std::move(plan_file);
    job.run_folder = std::move(run_folder);
    FOURFOLD_TRY(job.world_size, number("WORLD_SIZE", 1, 1, kMostRanks));
    FOURFOLD_TRY(job.rank, number("RANK", 0, 0, job.world_size - 1));
    FOURFOLD_TRY(job.local_rank, number("LOCAL_RANK", 0, 0, kMostRanks));
    FOURFOLD_TRY(job.master_port, number("MASTER_PORT", 0, 1, 65535));
    FOURFOLD_TRY(const int timeout, number("FOURFOLD_TIMEOUT_S", 120, 1, 86400));
    job.timeout_s = timeout;
    if (const auto text = variable("MASTER_ADDR"); !text.empty())
        job.master_address = text;
    if (const auto text = variable("FOURFOLD_ADDRESS"); !text.empty())
        job.address = text;
    job.backend = variable("FOURFOLD_BACKEND");
    if (!job.backend.empty() && job.backend != "gloo" && job.backend != "nccl")
        return Problem{ProblemCode::bad_input, "expected gloo, nccl or nothing, got \"" + job.backend + "\"", "",
            "environment variable FOURFOLD_BACKEND"};
    job.run_id = variable("FOURFOLD_RUN");
    job.token = take_secret(kTokenVariable);
    FOURFOLD_TRY(job.listener, number("FOURFOLD_LISTENER", -1, 0, INT_MAX));
    if (job.world_size > 1 && job.master_port == 0)
        return Problem{ProblemCode::bad_input, "not set, and the job has " + std::to_string(job.world_size) + " ranks",
            "give the port of rank 0", "environment variable MASTER_PORT"};
    if (job.world_size > 1 && !is_token(job.token))
        return Problem{ProblemCode::bad_input, "expected 64 hexadecimal digits, the same for every rank of the job",
            "the agent makes one for every run; by hand: openssl rand -hex 32", "environment variable FOURFOLD_TOKEN"};
    return job;
}

} // namespace fourfold::trainer
