// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/contact.h"

#include "core/base/text.h"

#include <cstdio>

namespace fourfold {

namespace {

constexpr std::size_t kMostEvidence = 500;

// As in a C string, so that every byte that came can be seen and none does anything to a terminal.
std::string escaped(std::string_view text)
{
    const bool words = is_utf8(text);
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '\t') {
            out += "\\t";
        } else if (c == '\\' || c == '"') {
            out += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !words)) {
            char code[8];
            std::snprintf(code, sizeof code, "\\x%02x", byte);
            out += code;
        } else {
            out += c;
        }
    }
    return printable(out, kUncut);
}

// Parts of a message may be the host's own words.
std::string harmless(std::string_view text)
{
    return printable(text, kMostEvidence);
}

std::string check_of(const Problem& problem)
{
    const auto says = [&](const char* text) { return problem.message.find(text) != std::string::npos; };
    if (says("resolved"))
        return "DNS";
    if (says("no route"))
        return "route";
    if (says("connection was refused") || says("no answer within"))
        return "port";
    if (says("host key") || says("shows a"))
        return "host key";
    if (says("safely be run from"))
        return "base folder";
    if (problem.code == ProblemCode::refused || says("key file"))
        return "authentication";
    if (says("shell"))
        return "shell";
    if (problem.code == ProblemCode::io)
        return "base folder";
    return problem.code == ProblemCode::network ? "connection" : "agent";
}

} // namespace

Finding contact_finding(const std::string& host, const Problem& problem)
{
    Finding out{FindingLevel::error, host, check_of(problem), harmless(problem.message), {}, harmless(problem.hint)};
    // Messages end with what was seen: "the name cannot be resolved: Name or service not known".
    if (const std::size_t colon = out.message.find(": "); colon != std::string::npos) {
        out.evidence = out.message.substr(colon + 2);
        out.message.resize(colon);
    }
    // Somebody on the way to the host, or a file: "jump host gate", "host: ~/.ssh/id_x".
    std::string where = problem.where == host ? "" : problem.where;
    if (where.starts_with(host + ": "))
        where.erase(0, host.size() + 2);
    if (!where.empty())
        out.evidence = harmless(where) + (out.evidence.empty() ? "" : ": " + out.evidence);
    return out;
}

std::vector<Finding> shell_findings(const std::string& host, const ShellNoise& noise)
{
    std::vector<Finding> out;
    const auto find = [&](const ShellNoise::Stream& stream, const char* where, const char* harm, const char* cure) {
        if (stream.bytes == 0)
            return;
        const bool all = stream.bytes == stream.first.size();
        out.push_back({FindingLevel::warning, host, "shell",
            "its start-up files print " + std::to_string(stream.bytes) + (stream.bytes == 1 ? " byte" : " bytes")
                + where + " before a command runs: " + harm,
            "printed \"" + escaped(stream.first) + (all ? "\"" : "\"..."), cure});
    };
    find(noise.output, "", "no harm here, but scp, sftp and rsync fail on it",
        "let ~/.bashrc and ~/.profile there print to terminals only: [ -t 1 ] && echo ...");
    find(noise.errors, " on standard error", "no harm by itself, but what fails there is missing for the ranks too",
        "read it; mend what fails (a module, a path), and let ~/.bashrc and ~/.profile there greet and set up "
        "terminals "
        "only where one is: [ -t 0 ] && stty ...");
    return out;
}

} // namespace fourfold
