// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/thrown.h"

#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

namespace fourfold {

namespace {
// "ulimit -n is 256"; empty where there is no such limit.
std::string limit_of(int resource, const char* option, rlim_t unit)
{
    rlimit limit{};
    if (::getrlimit(__rlimit_resource_t(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return "";
    return std::string("ulimit ") + option + " is " + std::to_string(limit.rlim_cur / unit);
}

Problem limit(const std::string& message, const std::string& cure, const std::string& set, const std::string& where)
{
    return {ProblemCode::failed, message, cure + (set.empty() ? "" : " (" + set + ")"), where};
}

Problem no_memory(const std::string& where)
{
    const std::string set = limit_of(RLIMIT_AS, "-v", 1024);
    return limit("there is not enough memory for this",
        set.empty() ? "" : "the memory of this session is limited: raise the limit", set, where);
}
} // namespace

Problem problem_of_thrown(const std::string& where)
{
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return no_memory(where);
    } catch (const std::system_error& error) {
        switch (error.code().value()) {
        case ENOMEM:
            return no_memory(where);
        case EMFILE:
            return limit(
                "too many files are open", "raise the limit of this session", limit_of(RLIMIT_NOFILE, "-n", 1), where);
        case ENFILE:
            return limit("too many files are open on this computer", "end other programs", "", where);
        case EAGAIN: { // a thread's stack counts as memory
            const std::string threads = limit_of(RLIMIT_NPROC, "-u", 1), memory = limit_of(RLIMIT_AS, "-v", 1024);
            return limit("no further thread can be started", "raise the limits of this session or of its container",
                threads + (threads.empty() || memory.empty() ? "" : ", ") + memory, where);
        }
        default:
            if (std::error_code gone; static_cast<void>(std::filesystem::current_path(gone)), gone)
                return Problem{ProblemCode::io, "the current folder was removed", "change to one that is there", where};
            return Problem{ProblemCode::io, "the system refused: " + error.code().message(), "", where};
        }
    } catch (const std::exception& error) {
        return Problem{ProblemCode::failed, std::string("unexpected: ") + error.what(),
            "please report this with the command line", where};
    }
}

} // namespace fourfold
