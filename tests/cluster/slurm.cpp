// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cluster/slurm.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace fourfold::test {

std::string why_no_slurm()
{
    for (const char* program : {"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "/usr/bin/sbatch"})
        EXPECT_EQ(access(program, X_OK), 0)
            << program << " is not here (packages slurmctld, slurmd, slurm-client, munge)";
    return geteuid() == 0 ? "" : "slurmd needs root";
}

namespace {
// The first of `count` ports in a row that nobody listens on, below those that the kernel gives to connections.
int free_ports(int count)
{
    constexpr int kFirst = 20000, kStep = 10, kPlaces = 1200;
    for (int place = getpid() % kPlaces;; place = (place + 1) % kPlaces) {
        const int first = kFirst + place * kStep;
        int free = 0;
        for (; free < count; ++free) {
            const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_port = htons(static_cast<uint16_t>(first + free));
            const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
            close(fd);
            if (!bound)
                break;
        }
        if (free == count)
            return first;
    }
}
} // namespace

SlurmCluster::SlurmCluster(int nodes)
    : nodes_(nodes)
    , port_(free_ports(nodes + 2))
{
    for (const char* part : {"state", "log", "run", "munge", "spool"})
        std::filesystem::create_directories(folder_ / part);
    // munged asks that others may pass, and nobody else may write.
    chmod(folder_.c_str(), 0755);
    chmod((folder_ / "munge").c_str(), 0711);
    setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
}

SlurmCluster::~SlurmCluster()
{
    (void)run("scancel -u root");
    wait_until([&] { return job().empty(); }, 15);
    std::vector<pid_t> all = daemons_;
    all.push_back(controller_);
    all.push_back(munged_);
    for (const pid_t pid : all) {
        if (pid <= 0)
            continue;
        kill(pid, SIGTERM);
        if (!wait_until([pid] { return waitpid(pid, nullptr, WNOHANG) != 0; }, 5)) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
    }
    unsetenv("SLURM_CONF");
}

pid_t SlurmCluster::spawn(const std::vector<std::string>& words, const std::string& log) const
{
    const std::string file = (folder_ / "log" / log).string();
    std::vector<std::string> copy = words;
    std::vector<char*> argv;
    for (std::string& word : copy)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
        const int null = open("/dev/null", O_RDONLY), out = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(null, 0);
        dup2(out, 1);
        dup2(out, 2);
        execv(argv[0], argv.data());
        _exit(127);
    }
    return pid;
}

void SlurmCluster::write_configuration() const
{
    const std::string at = folder_.string();
    std::ofstream out(folder_ / "slurm.conf");
    out << "ClusterName=fourfold\nSlurmctldHost=localhost(127.0.0.1)\nAuthType=auth/munge\nAuthInfo=socket=" << at
        << "/munge/socket\nCredType=cred/munge\nSlurmUser=root\nSlurmctldPort=" << port_ << "\nSlurmdPort=" << port_ + 1
        << "\nStateSaveLocation=" << at << "/state\nSlurmdSpoolDir=" << at << "/spool/%n\nSlurmctldPidFile=" << at
        << "/run/slurmctld.pid\nSlurmdPidFile=" << at << "/run/%n.pid\nSlurmctldLogFile=" << at
        << "/log/slurmctld.log\nSlurmdLogFile=" << at
        << "/log/slurmd-%n.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
           "JobAcctGatherType=jobacct_gather/none\nSwitchType=switch/none\nMpiDefault=none\n"
           "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n"
           "ReturnToService=2\nInactiveLimit=0\nKillWait=10\nMinJobAge=300\nSlurmctldTimeout=30\nSlurmdTimeout=60\n"
           "SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=2\n"
           "PropagateResourceLimitsExcept=ALL\nAccountingStorageType=accounting_storage/none\n"
           "JobCompType=jobcomp/none\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nJobRequeue=1\n";
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    for (int i = 1; i <= nodes_; ++i)
        out << "NodeName=n" << i << " NodeHostname=" << host << " NodeAddr=127.0.0.1 Port=" << port_ + 1 + i
            << " CPUs=4 RealMemory=1000 State=UNKNOWN\n";
    out << "PartitionName=low Nodes=n[1-" << nodes_
        << "] Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE\nPartitionName=high Nodes=n[1-"
        << nodes_ << "] MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF\n";
}

bool SlurmCluster::start()
{
    std::ofstream key(folder_ / "munge/key", std::ios::binary);
    std::ifstream random("/dev/urandom", std::ios::binary);
    std::array<char, 1024> bytes{};
    random.read(bytes.data(), bytes.size());
    key.write(bytes.data(), bytes.size());
    key.close();
    chmod((folder_ / "munge/key").c_str(), 0600);
    write_configuration();
    const std::string munge = (folder_ / "munge").string();
    munged_ = spawn({"/usr/sbin/munged", "--force", "-F", "--key-file", munge + "/key", "-S", munge + "/socket",
                        "--pid-file", munge + "/pid", "--log-file", munge + "/log", "--seed-file", munge + "/seed"},
        "munged");
    if (!wait_until([&] { return std::filesystem::exists(munge + "/socket"); }, 20)) {
        std::cerr << "munged does not start, see " << folder_ / "log/munged"
                  << "\n";
        return false;
    }
    start_controller();
    for (int i = 1; i <= nodes_; ++i) {
        const std::string name = "n" + std::to_string(i);
        std::filesystem::create_directories(folder_ / "spool" / name);
        daemons_.push_back(
            spawn({"/usr/sbin/slurmd", "-D", "-N", name, "-f", (folder_ / "slurm.conf").string()}, name));
    }
    if (wait_until([&] { return run("sinfo -h -p low -t idle -o %D") == std::to_string(nodes_) + "\n"; }, 60))
        return true;
    std::cerr << "Slurm's nodes do not get idle: " << run("sinfo")
              << run("tail -5 " + (folder_ / "log/slurmctld.log").string());
    return false;
}

void SlurmCluster::start_controller()
{
    controller_ = spawn({"/usr/sbin/slurmctld", "-D", "-f", (folder_ / "slurm.conf").string()}, "slurmctld");
}

void SlurmCluster::kill_controller()
{
    kill(controller_, SIGKILL);
    waitpid(controller_, nullptr, 0);
    controller_ = 0;
}

bool SlurmCluster::job_is_saved() const
{
    const auto begin = std::filesystem::file_time_type::clock::now();
    return wait_until(
        [&] {
            std::error_code error;
            const auto written = std::filesystem::last_write_time(folder_ / "state/job_state", error);
            return !error && written > begin;
        },
        60);
}

std::string SlurmCluster::run(const std::string& command) const
{
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::string out;
    std::array<char, 4096> block{};
    while (std::size_t got = fread(block.data(), 1, block.size(), pipe))
        out.append(block.data(), got);
    pclose(pipe);
    return out;
}

std::string SlurmCluster::job() const
{
    std::istringstream words(run("squeue -h -o %i"));
    std::string id;
    words >> id;
    return !id.empty() && id.find_first_not_of("0123456789") == std::string::npos ? id : "";
}

} // namespace fourfold::test
