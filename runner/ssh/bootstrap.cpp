// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/bootstrap.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "runner/protocol/distrust.h"
#include "runner/protocol/trusted_shell.h"
#include "runner/ssh/ssh_transport.h"

#include <algorithm>
#include <map>

namespace fourfold {

using namespace std::chrono_literals;

namespace {

// Read by the user's login shell, whichever it is: one line in single quotes without any character that a shell could
// find a meaning in there (quote, backslash, exclamation mark). Base folder, hash, folders that their group may write,
// and size come on standard input; the shell's `read` takes them byte by byte and leaves the rest. The empty line at
// the beginning ends what the shell may have printed without one; on standard error a mark does, as the command's own
// words there begin with none.
constexpr std::string_view kAsk = "exec /bin/sh -c '"
                                  "umask 077; set -f; echo; { echo; echo FOURFOLD begins; } >&2; "
                                  "IFS= read -r base; IFS= read -r want; IFS= read -r groups; "
                                  "case \"$base\" in \"\") base=\"$HOME/.local/share/fourfold/node\";; "
                                  "\"~/\"*) base=\"$HOME/${base#\"~/\"}\";; esac; "
                                  "no() { echo \"FOURFOLD error $*\"; exit 1; }; "
                                  "path=\"$base/agent/$want\"; ";
constexpr std::string_view kBegin = // In a sticky folder another user could make the file that is written below.
    "case \"$mode\" in ????\?-?\?-*) ;; *) no others \"$PWD\";; esac; "
    "begin() { leave; /proc/self/fd/3 version >/dev/null || no exec; "
    "echo FOURFOLD ready; exec /proc/self/fd/3 session; }; "
    "file=./fourfold-agent; look \"$file\"; "
    "case \"$mode\" in -*) { if right; then echo FOURFOLD have; begin; fi; } 3<\"$file\";; esac; "
    "echo FOURFOLD need; IFS= read -r size; part=\"$file.$(uname -n).$$\"; "
    "head -c \"$size\" >\"$part\" && chmod 500 \"$part\" || { rm -f \"$part\"; no write; }; "
    "{ right || { rm -f \"$part\"; no hash; }; mv -f \"$part\" \"$file\" || no write; begin; } 3<\"$part\"; no "
    "write'";

constexpr std::string_view kMark = "\nFOURFOLD begins";
constexpr std::size_t kMostNoise = 64u << 10, kMostLastWords = 500;
constexpr auto kPatience = 60s;
constexpr auto kPatienceForMark = 1s; // written before the words that were waited for, it may come after them

// `said` is a word and, where it is about one, a place.
Problem script_problem(const std::string& said)
{
    static const std::map<std::string, std::pair<const char*, const char*>> kTexts{
        {"folder",
            {"the base folder cannot be made on the host",
                "set the target's base_folder to a folder that you may write"}},
        {"look",
            {"the base folder cannot be looked at on the host",
                "set the target's base_folder to a place that you may read"}},
        {"write",
            {"the agent cannot be written on the host (no room?)",
                "make room or set the target's base_folder to another disk"}},
        {"hash", {"the agent arrived damaged, or the host has neither sha256sum nor openssl", "try again"}},
        {"exec",
            {"the agent cannot be executed on the host (a noexec file system, or another processor)",
                "set the target's base_folder to a file system that allows programs"}},
    };
    const std::string word = said.substr(0, said.find(' '));
    const std::string place = printable(said.substr(std::min(word.size() + 1, said.size())), kMostLastWords);
    if (word == "owner" || word == "group" || word == "others" || word == "kind")
        return distrust(word, place);
    const auto text = kTexts.find(word);
    if (text == kTexts.end())
        return {ProblemCode::network, "the host answered the first contact with something unknown", {}, {}};
    return {ProblemCode::io, text->second.first + (place.empty() ? "" : ": " + place), text->second.second, {}};
}

Problem without_mark(Problem problem)
{
    if (const std::size_t at = problem.message.find(kMark); at != std::string::npos)
        problem.message.erase(at, kMark.size());
    if (problem.message.ends_with(kHostSays)) // nothing but the mark
        problem.message.erase(problem.message.size() - std::string_view(kHostSays).size());
    return problem;
}

// The next word after "FOURFOLD " at the beginning of a line. Reads not one byte beyond that line, as the session's
// frames follow: the stream gives blocks, but the host says nothing more until it is asked.
class Listener {
public:
    Listener(SshStream& stream, std::stop_token stop)
        : stream_(stream)
        , stop_(std::move(stop))
    {
    }

    Expected<std::string> word()
    {
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        for (;;) {
            for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
                const std::string line = text_.substr(0, end);
                text_.erase(0, end + 1);
                if (line.starts_with("FOURFOLD "))
                    return line.substr(9);
                take_noise(line + "\n");
            }
            if (noise_.bytes + text_.size() > kMostNoise)
                return endless(noise_.first + text_);
            if (stop_.stop_requested())
                return Problem{ProblemCode::cancelled, "stopped during the first contact", {}, {}};
            if (std::chrono::steady_clock::now() > deadline)
                return Problem{ProblemCode::network, "the host's shell did not answer within 60 s",
                    "log in by hand and see what its start-up files wait for", {}};
            const auto bytes = stream_.read_some(100ms);
            if (!bytes)
                return ended(bytes.error());
            text_ += *bytes;
            // Asked for only when nothing comes otherwise: what is said there first has been taken by then.
            if (bytes->empty() && stream_.errors(0ms).size() > kMostNoise)
                return endless(stream_.errors(0ms));
        }
    }

    // Without the newline that the command itself printed first.
    [[nodiscard]] ShellNoise noise() const
    {
        ShellNoise out{noise_, {}};
        if (out.output.bytes > 0 && out.output.bytes == out.output.first.size())
            out.output.first.pop_back();
        out.output.bytes -= std::min<std::size_t>(out.output.bytes, 1);
        const auto deadline = std::chrono::steady_clock::now() + kPatienceForMark;
        std::string_view said = stream_.errors(0ms);
        while (said.find(kMark) == std::string_view::npos && std::chrono::steady_clock::now() < deadline)
            said = stream_.errors(20ms);
        said = said.substr(0, said.find(kMark));
        out.errors = {std::string(said.substr(0, ShellNoise::kShown)), said.size()};
        return out;
    }

private:
    // Before the command began, what was printed is the login shell's, or of what stands in its place.
    [[nodiscard]] Problem ended(Problem problem) const
    {
        const bool begun = problem.message.find(kMark) != std::string::npos;
        problem = without_mark(std::move(problem));
        if (begun || !problem.message.starts_with(kCommandEnded))
            return problem;
        if (const std::string printed = noise_.first + text_; printed.find_first_not_of(" \r\n") != std::string::npos)
            problem.message += "; it printed: " + printable(printed, ShellNoise::kShown);
        problem.hint = "does its login shell run commands? see ForceCommand of its sshd, and log in by hand";
        return problem;
    }

    static Problem endless(std::string_view text)
    {
        return {ProblemCode::network,
            "the host's shell prints without an end before it runs a command: " + printable(text, ShellNoise::kShown),
            "make its start-up files (.bashrc) silent for commands", {}};
    }

    void take_noise(std::string_view bytes)
    {
        noise_.bytes += bytes.size();
        noise_.first += bytes.substr(0, ShellNoise::kShown - std::min(ShellNoise::kShown, noise_.first.size()));
    }

    SshStream& stream_;
    std::stop_token stop_;
    std::string text_;
    ShellNoise::Stream noise_;
};

// What the command wrote to its standard error before it ended: the system's own reason.
std::string last_words(SshStream& stream)
{
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    while (stream.read_some(100ms) && std::chrono::steady_clock::now() < deadline) { }
    std::string_view said = stream.errors(0ms);
    if (const std::size_t at = said.find(kMark); at != std::string_view::npos)
        said.remove_prefix(at + kMark.size());
    said.remove_prefix(std::min(said.find_first_not_of('\n'), said.size()));
    said = said.substr(0, said.find_last_not_of('\n') + 1);
    return std::string(said.substr(said.size() - std::min(said.size(), kMostLastWords)));
}

Expected<void> send_agent(
    SshStream& stream, const std::filesystem::path& agent, const std::function<void(double)>& progress)
{
    FOURFOLD_TRY(const std::string program, read_text_file(agent, 256u << 20));
    FOURFOLD_CHECK(stream.write_all(std::to_string(program.size()) + "\n"));
    constexpr std::size_t kBlock = 128u << 10;
    for (std::size_t at = 0; at < program.size(); at += kBlock) {
        FOURFOLD_CHECK(stream.write_all(std::string_view(program).substr(at, kBlock)));
        progress(static_cast<double>(std::min(at + kBlock, program.size())) / static_cast<double>(program.size()));
    }
    return {};
}

} // namespace

const std::string& remote_command()
{
    static const std::string command = std::string(kAsk) + std::string(kTrustedShell) + std::string(kBegin);
    return command;
}

Expected<ShellNoise> bootstrap(SshStream& stream, const AgentPlace& place, const std::filesystem::path& agent,
    std::stop_token stop, const std::function<void(double)>& progress)
{
    Listener listener(stream, std::move(stop));
    std::string groups;
    for (const std::string& folder : place.group_writable)
        groups += ":" + folder;
    const auto asked = stream.write_all(place.base_folder + "\n" + place.sha256 + "\n" + groups + "\n");
    if (!asked && !asked.error().message.starts_with(kCommandEnded))
        return asked.error();
    FOURFOLD_TRY(std::string word, listener.word()); // says why, when the command ended before it was asked
    if (word == "need") {
        const auto sent = send_agent(stream, agent, progress);
        auto answer = listener.word(); // says why, when the sending failed
        if (!answer)
            return sent ? std::move(answer).error() : without_mark(sent.error());
        word = *answer;
    } else if (word == "have") {
        FOURFOLD_TRY(word, listener.word());
    }
    if (word == "ready") {
        ShellNoise noise = listener.noise();
        stream.forget_errors(); // what is said from now on is the agent's
        return noise;
    }
    Problem problem = script_problem(word.starts_with("error ") ? word.substr(6) : word);
    if (const std::string why = last_words(stream); !why.empty())
        problem.message += ": " + why;
    return problem;
}

} // namespace fourfold
