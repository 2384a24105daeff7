// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/failure.h"

#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/train.h"

#include <cstdio>

namespace fourfold::trainer {

Identity& identity()
{
    static Identity own;
    return own;
}

Json to_json(const Coordinates& at)
{
    return {{"tp", at.tp}, {"cp", at.cp}, {"pp", at.pp}, {"dp", at.dp}};
}

std::string first_line(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

std::string kind_of(const std::string& what)
{
    const auto says = [&](const char* words) { return what.find(words) != std::string::npos; };
    if (says("out of memory") || says("bad_alloc") || says("can't allocate memory"))
        return "oom";
    if (says("imed out") || says("imeout")
        || (identity().recorder && identity().recorder->stuck_for(0.9 * identity().timeout_s)))
        return "hang";
    return "fail";
}

int report(const Problem& problem, const std::string& kind)
{
    const std::string last = identity().recorder ? identity().recorder->last() : "";
    if (!last.empty() && !identity().flight_file.empty())
        (void)write_file_atomically(identity().flight_file,
            Json{{"message", problem.line()}, {"mesh", identity().coordinates},
                {"collectives", identity().recorder->recent()}}
                .dump(1));
    std::fprintf(stderr, "%s%s\n", problem.line().c_str(), last.empty() ? "" : ("; last collective: " + last).c_str());
    if (identity().events)
        (void)identity().events->write("error",
            {{"kind", kind}, {"host", host_name()}, {"mesh", identity().coordinates}, {"message", problem.line()},
                {"last_collective", last.empty() ? Json(nullptr) : Json(last)}});
    return problem.exit_status();
}

void report_fatal(const std::string& what)
{
    report(Problem{ProblemCode::failed, first_line(what), "", ""}, kind_of(what));
}

} // namespace fourfold::trainer
