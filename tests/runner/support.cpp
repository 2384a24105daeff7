// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/runner/support.h"

#include "core/plan/presets.h"
#include "runner/protocol/message.h"
#include "tests/leftover_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <thread>

namespace fourfold::test {

namespace {
const std::vector<std::string> kVariables{
    "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "SSH_AUTH_SOCK"};
}

bool is_safe_place(std::filesystem::path folder)
{
    for (;; folder = folder.parent_path()) {
        struct stat info { };
        if (stat(folder.c_str(), &info) != 0 || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0
            || (info.st_uid != 0 && info.st_uid != geteuid()))
            return false;
        if (folder == folder.root_path())
            return true;
    }
}

namespace {
// What a target's base folder may be called, and what needs no quotes in an ssh configuration.
bool is_plain(const std::filesystem::path& path)
{
    const std::string text = path.string();
    return std::all_of(text.begin(), text.end(),
        [](unsigned char c) { return std::isalnum(c) || c == '/' || c == '_' || c == '.' || c == '-'; });
}
} // namespace

Home::Home()
{
    umask(022); // what others may write is not used
    std::filesystem::create_directories(FOURFOLD_BIN_DIR "/../tests");
    const auto tests = std::filesystem::canonical(FOURFOLD_BIN_DIR "/../tests");
    std::string pattern = (is_safe_place(tests) && is_plain(tests) && ::access(tests.c_str(), W_OK) == 0
                                  ? tests
                                  : std::filesystem::temp_directory_path())
        / "home.XXXXXX";
    path_ = std::filesystem::canonical(mkdtemp(pattern.data()));
    for (const std::string& name : kVariables) {
        if (const char* value = std::getenv(name.c_str()))
            before_[name] = value;
    }
    setenv("HOME", path_.c_str(), 1);
    setenv("XDG_DATA_HOME", (path_ / "data").c_str(), 1);
    setenv("XDG_CONFIG_HOME", (path_ / "config").c_str(), 1);
    setenv("XDG_CACHE_HOME", (path_ / "cache").c_str(), 1);
    unsetenv("SSH_AUTH_SOCK");
    std::ofstream corpus(path_ / "corpus.txt");
    for (int i = 0; i < 2000; ++i)
        corpus << "In the beginning there were only words and numbers.\n";
}

Home::~Home()
{
    for (const std::string& name : kVariables) {
        if (const auto at = before_.find(name); at != before_.end())
            setenv(name.c_str(), at->second.c_str(), 1);
        else
            unsetenv(name.c_str());
    }
    end_processes();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void Home::end_processes() const
{
    end_processes_of(path_);
}

PlainFolder::PlainFolder()
{
    char pattern[] = "/tmp/fourfold-XXXXXX";
    path_ = std::filesystem::canonical(mkdtemp(pattern));
}

PlainFolder::~PlainFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path agent_program()
{
    return std::filesystem::path(FOURFOLD_BIN_DIR) / "fourfold-agent";
}

std::filesystem::path fake_trainer()
{
    return std::filesystem::path(FOURFOLD_BIN_DIR) / "../tests/fake-trainer";
}

ResolvedPlan tiny_plan(const Home& home, int gpus, const std::map<std::string, std::string>& environment)
{
    const int tp = gpus % 2 == 0 ? 2 : 1;
    Json document = Json::parse(R"({ "fourfold_plan": 1, "name": "Tiny", "cluster": "this-computer",
        "stack": "fourfold",
        "model": { "model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
                   "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
                   "max_position_embeddings": 128, "tie_word_embeddings": false },
        "training": { "seq_len": 64, "micro_batch": 1, "precision": "fp32" },
        "run": { "steps": 5, "data": [ { "path": "corpus.txt", "weight": 1 } ] } })");
    document["gpus"] = gpus;
    document["layout"] = {{"tp", tp}, {"dp", gpus / tp}};
    document["training"]["global_batch"] = gpus;
    for (const auto& [key, value] : environment)
        document["run"]["environment"][key] = value;
    const auto plan = plan_from_json(document, (home.path() / "tiny.plan.json").string());
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().line());
    auto resolved = resolve(*plan, Presets());
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().line());
    return *std::move(resolved);
}

RunRequest request(const Home& home, int gpus, const std::map<std::string, std::string>& environment)
{
    RunRequest out;
    out.plan = tiny_plan(home, gpus, environment);
    out.trainer = fake_trainer();
    out.agent = agent_program();
    const auto target = load_target("local");
    EXPECT_TRUE(target) << (target ? "" : target.error().line());
    out.target = *target;
    out.target.stop_grace_s = 0.5;
    return out;
}

void Recording::on_created(const std::string& run, const std::filesystem::path& where)
{
    id = run;
    folder = where;
}
void Recording::on_state(RunState state, const std::string& what)
{
    states.push_back(state);
    texts.push_back(what);
    if (each_state)
        each_state(state, what);
}
void Recording::on_staging(double, const std::string& what)
{
    if (staged.empty() || staged.back() != what)
        staged.push_back(what);
}
void Recording::on_link(LinkState state, const std::string& host)
{
    static const char* const kNames[] = {"connected ", "silent ", "reconnecting "};
    links.push_back(kNames[static_cast<int>(state)] + host);
}
void Recording::on_event(const Json& event)
{
    events.push_back(event);
    if (each_event)
        each_event(event);
}
bool Recording::trust_host_key(const HostKeyQuestion& question)
{
    questions.push_back(question);
    return trust;
}

std::optional<std::string> Recording::secret(const SecretQuestion& question)
{
    if (secrets_asked.size() >= answers.size())
        return {};
    secrets_asked.push_back(question);
    return answers[secrets_asked.size() - 1];
}

std::vector<int> steps_of(const std::vector<Json>& events)
{
    std::vector<int> out;
    for (const Json& event : events) {
        if (text_field(event, "event") == "step")
            out.push_back(static_cast<int>(integer_field(event, "step")));
    }
    return out;
}

Json last_event(const std::vector<Json>& events, const std::string& kind)
{
    const auto found = std::find_if(
        events.rbegin(), events.rend(), [&](const Json& event) { return text_field(event, "event") == kind; });
    return found == events.rend() ? Json::object() : *found;
}

void expect_whole(const std::vector<Json>& events, const std::string& status)
{
    ASSERT_FALSE(events.empty());
    for (std::size_t i = 0; i < events.size(); ++i) {
        ASSERT_EQ(integer_field(events[i], "seq", -1), static_cast<int64_t>(i)) << to_wire(events[i]);
        ASSERT_EQ(text_field(events[i], "event") == "end", i + 1 == events.size()) << to_wire(events[i]);
    }
    EXPECT_EQ(text_field(events.back(), "status"), status) << to_wire(events.back());
}

std::vector<Json> read_events(const std::filesystem::path& file)
{
    std::vector<Json> out;
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line) && !in.eof()) // the rest of a line may be on its way
        out.push_back(Json::parse(line));
    return out;
}

namespace {

std::string contents(const std::filesystem::path& file)
{
    std::stringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

// Of every process whose environment holds this text.
std::vector<std::string> environments_with(const std::string& text)
{
    std::vector<std::string> out;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        std::string all = contents(entry.path() / "environ");
        if (all.find(text) != std::string::npos)
            out.push_back(std::move(all));
    }
    return out;
}

// Processes whose environment has all of these entries.
std::vector<pid_t> processes_with(const std::vector<std::string>& entries)
{
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        std::ifstream in(entry.path() / "environ", std::ios::binary);
        std::stringstream text;
        text << '\0' << in.rdbuf() << '\0';
        if (std::all_of(entries.begin(), entries.end(),
                [&](const std::string& wanted) { return text.str().find('\0' + wanted + '\0') != std::string::npos; }))
            found.push_back(std::atoi(entry.path().filename().c_str()));
    }
    return found;
}
} // namespace

int processes_of(const std::string& run)
{
    return run.empty() ? 0 : int(environments_with("FOURFOLD_RUN=" + run).size());
}

std::string token_of(const std::string& run)
{
    const std::string name = "FOURFOLD_TOKEN=";
    for (const std::string& all : environments_with("FOURFOLD_RUN=" + run)) {
        if (const std::size_t at = all.find(name); at != std::string::npos)
            return all.substr(at + name.size(), all.find('\0', at) - at - name.size());
    }
    return {};
}

std::vector<std::string> places_of(const std::string& secret, const std::filesystem::path& folder)
{
    std::vector<std::string> out;
    std::error_code error;
    const auto look = [&](const std::filesystem::path& file) {
        if (contents(file).find(secret) != std::string::npos)
            out.push_back(file.string());
    };
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error))
        look(entry.path() / "cmdline");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
        if (entry.is_regular_file(error))
            look(entry.path());
    }
    return out;
}

pid_t rank_process(const std::string& run, int rank)
{
    const auto found = processes_with({"FOURFOLD_RUN=" + run, "RANK=" + std::to_string(rank)});
    return found.empty() ? 0 : found.front();
}

bool wait_until(const std::function<bool()>& done, double seconds)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

namespace {

struct Announcing : Recording {
    int out = -1;
    void on_created(const std::string& run, const std::filesystem::path& where) override
    {
        Recording::on_created(run, where);
        (void)!write(out, (run + "\n").c_str(), run.size() + 1);
        close(out);
    }
};

int be_client(const RunRequest& request, const std::function<void(Recording&)>& prepare, int announce)
{
    static std::atomic<bool> asked_to_stop = false;
    std::signal(SIGTERM, [](int) { asked_to_stop = true; });
    std::stop_source stop;
    const std::jthread watcher([&stop](const std::stop_token& over) {
        while (!over.stop_requested() && !asked_to_stop)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (asked_to_stop)
            stop.request_stop();
    });
    Announcing observer;
    observer.out = announce;
    if (prepare)
        prepare(observer);
    const auto result = launch(request, observer, stop.get_token());
    return result && result->state == RunState::ok ? 0 : 1;
}

} // namespace

ClientProcess::ClientProcess(const RunRequest& request, const std::function<void(Recording&)>& prepare)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error("no pipe for a client");
    pid_ = fork();
    if (pid_ < 0)
        throw std::runtime_error("no process for a client");
    if (pid_ == 0) {
        close(ends[0]);
        _exit(be_client(request, prepare, ends[1]));
    }
    close(ends[1]);
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';)
        id_ += c;
    close(ends[0]);
}

ClientProcess::~ClientProcess()
{
    end(SIGKILL);
}

void ClientProcess::signal(int number) const
{
    if (pid_ > 0)
        kill(pid_, number);
}

int ClientProcess::end(int number)
{
    if (pid_ <= 0)
        return 0;
    if (number != 0)
        kill(pid_, number);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t parent_of(pid_t process)
{
    const auto text = read_text_file("/proc/" + std::to_string(process) + "/stat");
    std::istringstream fields(text ? text->substr(text->rfind(')') + 1) : "");
    std::string state;
    pid_t parent = 0;
    fields >> state >> parent;
    return parent;
}

} // namespace fourfold::test
