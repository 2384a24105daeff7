// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/runner/sshd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

namespace fourfold::test {

namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> out;
    for (std::string& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

int free_port(const std::string& address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    socklen_t size = sizeof at;
    const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0;
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    close(fd);
    return bound ? ntohs(at.sin_port) : 0;
}

bool answers(const std::string& address, int port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    const bool good = connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    close(fd);
    return good;
}

std::vector<pid_t> children_of(pid_t parent)
{
    std::vector<pid_t> out;
    std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
    pid_t pid = 0;
    while (in >> pid)
        out.push_back(pid);
    return out;
}

} // namespace

int run_program(const std::vector<std::string>& arguments)
{
    std::vector<std::string> words = arguments;
    const std::vector<char*> argv = pointers(words);
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        for (const int fd : {0, 1, 2})
            dup2(null, fd);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string why_no_sshd()
{
    EXPECT_EQ(access(kSshd, X_OK), 0) << kSshd << " is not here (package openssh-server)";
    // A server that root runs wants its folder for privilege separation.
    if (geteuid() == 0 && access("/run/sshd", F_OK) != 0 && mkdir("/run/sshd", 0755) != 0)
        return "/run/sshd does not exist and cannot be made";
    return {};
}

std::filesystem::path client_key(const Home& home)
{
    const std::filesystem::path key = home.path() / "client_key";
    if (!std::filesystem::exists(key)) {
        EXPECT_EQ(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.string()}), 0);
    }
    return key;
}

Sshd::Sshd(const Home& home, std::string name, SshdPlace place)
    : home_(home)
    , name_(std::move(name))
    , place_(std::move(place))
    , folder_(home.path() / name_)
{
    std::filesystem::create_directories(folder_);
    chmod(folder_.c_str(), 0700);
    if (place_.port == 0)
        place_.port = free_port(place_.address);
    client_key(home);
    make_host_key();
}

Sshd::~Sshd()
{
    stop();
}

void Sshd::make_host_key()
{
    std::error_code ignored;
    std::filesystem::remove(folder_ / "host_key", ignored);
    std::filesystem::remove(folder_ / "host_key.pub", ignored);
    EXPECT_EQ(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", (folder_ / "host_key").string()}), 0);
}

void Sshd::start()
{
    std::filesystem::copy_file(client_key(home_).string() + ".pub", folder_ / "authorized_keys",
        std::filesystem::copy_options::overwrite_existing);
    chmod((folder_ / "authorized_keys").c_str(), 0600);
    std::ofstream config(folder_ / "sshd_config");
    config << "Port " << place_.port << "\nListenAddress " << place_.address << "\nHostKey " << folder_ / "host_key"
           << "\nPidFile none\nAuthorizedKeysFile " << folder_ / "authorized_keys"
           << "\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
              "PermitRootLogin prohibit-password\nStrictModes "
           << (is_safe_place(folder_) ? "yes" : "no") << "\nLogLevel VERBOSE\n";
    config << place_.lines;
    // Logins have a home of their own, as start-up files of whoever runs the tests may print as well.
    const auto users = folder_ / "users";
    std::filesystem::create_directories(users);
    config << "SetEnv \"HOME=" << users.string() << '"';
    // Debian's bash reads .bashrc for a command that comes through sshd, others read BASH_ENV.
    if (!place_.shell_file.empty()) {
        std::filesystem::copy_file(
            place_.shell_file, users / ".bashrc", std::filesystem::copy_options::overwrite_existing);
        config << " \"BASH_ENV=" << place_.shell_file << '"';
        // Whoever runs the tests may have another login shell.
        if (!std::string_view(getpwuid(geteuid())->pw_shell).ends_with("/bash"))
            config << "\nForceCommand exec bash -c \"$SSH_ORIGINAL_COMMAND\"";
    }
    config << (place_.variable.empty() ? "" : " ") << place_.variable << "\n";
    config.close();
    std::vector<std::string> words;
    if (!place_.netns.empty())
        words = {"ip", "netns", "exec", place_.netns};
    if (!place_.boot_id_file.empty() || place_.own_disk) {
        words.insert(words.end(), {"unshare", "--mount"});
        if (!place_.boot_id_file.empty())
            words.insert(words.end(), {"--pid", "--fork", "--kill-child", "--mount-proc"});
        words.insert(words.end(),
            {"sh", "-c",
                "[ -z \"$0\" ] || mount --bind \"$0\" /proc/sys/kernel/random/boot_id || exit 1; "
                "[ \"$1\" = \"$2\" ] || mount --bind \"$1\" \"$2\" || exit 1; shift 2; exec \"$@\"",
                place_.boot_id_file, disk().string(), (home_.path() / "node").string()});
        for (const auto& folder : {disk(), home_.path() / "node"}) {
            std::filesystem::create_directories(folder);
            chmod(folder.c_str(), 0700);
        }
    }
    for (const std::string& word : {std::string(kSshd), std::string("-D"), std::string("-f"),
             (folder_ / "sshd_config").string(), std::string("-E"), (folder_ / "sshd.log").string()})
        words.push_back(word);
    const std::vector<char*> argv = pointers(words);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that crashes leaves no server
        if (getppid() != parent)
            _exit(1);
        const int null = open("/dev/null", O_RDWR);
        for (const int fd : {0, 1, 2})
            dup2(null, fd);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    ASSERT_TRUE(wait_until([&] { return answers(place_.address, place_.port); }, 20))
        << "sshd does not answer on port " << place_.port << ", see " << folder_ / "sshd.log";
}

int Sshd::cut_connections()
{
    return signal_connections(SIGKILL);
}

void Sshd::freeze_connections()
{
    signal_connections(SIGSTOP);
}

int Sshd::signal_connections(int number)
{
    int count = 0;
    for (const pid_t child : children_of(pid_)) {
        // Of each connection the processes below the monitor too; what has detached from them is not theirs any more.
        for (const pid_t grandchild : children_of(child)) {
            std::string name;
            std::ifstream("/proc/" + std::to_string(grandchild) + "/comm") >> name;
            if (name == "sshd")
                kill(grandchild, number);
        }
        kill(child, number);
        ++count;
    }
    return count;
}

void Sshd::stop()
{
    if (pid_ <= 0)
        return;
    cut_connections();
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

std::filesystem::path Sshd::disk() const
{
    return place_.own_disk ? folder_ / "disk" : home_.path() / "node";
}

TargetHost Sshd::host() const
{
    TargetHost host;
    host.address = place_.address;
    host.user = getpwuid(geteuid())->pw_name;
    host.port = place_.port;
    host.key_file = client_key(home_).string();
    return host;
}

std::string Sshd::fingerprint() const
{
    const std::string command = "ssh-keygen -lf '" + (folder_ / "host_key.pub").string() + "'";
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 512> line{};
    if (!fgets(line.data(), line.size(), pipe))
        line[0] = '\0';
    pclose(pipe);
    std::istringstream words(line.data());
    std::string bits, fingerprint;
    words >> bits >> fingerprint;
    return fingerprint;
}

Target ssh_target(const Home& home, const std::vector<const Sshd*>& hosts)
{
    Target target;
    target.id = "loopback";
    target.kind = TargetKind::ssh;
    for (const Sshd* host : hosts)
        target.hosts.push_back(host->host());
    target.base_folder = (home.path() / "node").string();
    target.reuse_files = false;
    target.connect_timeout_s = 20;
    target.stop_grace_s = 0.5;
    return target;
}

std::vector<std::string> login_command(const Home& home, const Sshd& server, const std::string& command)
{
    const TargetHost host = server.host();
    return {"/usr/bin/ssh", "-tt", "-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o",
        "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i", client_key(home).string(), "-p",
        std::to_string(host.port), host.user + "@" + host.address, command};
}

} // namespace fourfold::test
