#include "tests/harness/app/slurm_cluster.hpp"

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <pwd.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace fedarena::test {
namespace {

// Where it is; "" where it is not installed. Daemons lie where not every PATH leads.
std::string installed_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"}) {
    const fs::path program = fs::path(folder) / name;
    if (fs::exists(program)) return program.string();
  }
  return {};
}

// A port that nobody listens at.
int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(listener);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

std::string user() { return ::getpwuid(::geteuid())->pw_name; }

std::string configuration(const fs::path& folder) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string text = fmt::format(R"(ClusterName=test
SlurmctldHost={1}(127.0.0.1)
SlurmctldPort={3}
SlurmUser={2}
SlurmdUser={2}
AuthType=auth/munge
AuthInfo=socket={0}/munge/socket
CredType=cred/munge
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/spool-%n
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/slurmd-%n.pid
SlurmctldLogFile={0}/slurmctld.log
SlurmdLogFile={0}/slurmd-%n.log
TmpFS={0}/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
)",
                                 folder.string(), host.data(), user(), free_port());
  for (const char* node : {"n1", "n2"}) {
    text += fmt::format("NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=2\n", node, host.data(),
                        free_port());
  }
  return text +
         "PartitionName=low Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP PriorityTier=1\n"
         "PartitionName=high Nodes=n1,n2 MaxTime=INFINITE State=UP PriorityTier=10\n";
}

}  // namespace

bool SlurmCluster::installed() {
  for (const auto& [program, package] :
       {std::pair("munged", "munge"), std::pair("slurmctld", "slurmctld"), std::pair("slurmd", "slurmd"),
        std::pair("sbatch", "slurm-client")}) {
    if (!installed_program(program).empty()) continue;
    std::printf("%s is not installed (package %s), so nothing was tried on a cluster.\n", program, package);
    return false;
  }
  return true;
}

SlurmCluster::SlurmCluster() : configuration_((scratch_ / "slurm.conf").string()) {
  for (const char* name : {"munge", "state", "tmp-n1", "tmp-n2"}) fs::create_directories(scratch_ / name);
  // munged insists that all users could reach its socket.
  for (const fs::path& way : {scratch_.path(), scratch_ / "munge"}) fs::permissions(way, fs::perms(0711));
  std::string key(128, '\0');
  std::random_device random;
  for (char& byte : key) byte = static_cast<char>(random());
  fs::permissions(scratch_.write("key", key), fs::perms(0600));
  scratch_.write("slurm.conf", configuration(scratch_.path()));
  for (const char* daemon : {"munged", "slurmctld", "n1", "n2"}) begin(daemon);
  if (!wait_until([&] { return call("sinfo", "-h -N -p low -o %T").out == "idle\nidle\n"; }))
    throw std::runtime_error("the cluster does not begin: " + content_of(scratch_ / "slurmctld.log"));
}

SlurmCluster::~SlurmCluster() {
  call("scancel", "-u " + user());
  wait_until([&] { return call("squeue", "-h").out.empty(); });
}

Outcome SlurmCluster::call(const std::string& program, const CommandLine& words) const {
  return run_program(scratch_, words,
                     {.environment = start().environment, .program = installed_program(program)});
}

void SlurmCluster::begin(const std::string& daemon) {
  const std::string folder = scratch_.path().string();
  std::string command = installed_program("slurmd") + " -D -N " + daemon;
  if (daemon == "slurmctld") command = installed_program("slurmctld") + " -D";
  if (daemon == "munged") {
    command = fmt::format(
        "{1} -F --key-file={0}/key --socket={0}/munge/socket --pid-file={0}/munge/pid "
        "--seed-file={0}/munge/seed "
        "--log-file={0}/munge.log",
        folder, installed_program("munged"));
  }
  // Nobody reads what they print.
  daemons_[daemon] = std::make_unique<Program>(
      scratch_, CommandLine(std::vector<std::string>{"-c", "exec " + command + " >/dev/null 2>&1"}),
      Start{.environment = start().environment, .program = "/bin/sh"});
}

std::string SlurmCluster::ask(const Scratch& folder, const CommandLine& command) const {
  std::vector<std::string> words = command.words();
  Start asking = start();
  if (words.front() != "fedarena") asking.program = installed_program(words.front());
  words.erase(words.begin());
  return succeed(folder, CommandLine(words), asking).out;
}

bool SlurmCluster::wait_until(const std::function<bool()>& condition) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

std::string SlurmCluster::state(const std::string& job) const {
  const Outcome outcome = call("squeue", "-h -o %T -j " + job);
  // It says so of a job that ended a while ago.
  const bool over = outcome.exit_code == 0 || outcome.err.find("Invalid job id") != std::string::npos;
  return over ? outcome.out.substr(0, outcome.out.find('\n')) : "UNKNOWN";
}

void SlurmCluster::begin_in(int seconds, const std::string& job) const {
  ask(scratch_, fmt::format("scontrol update jobid={} StartTime=now+{}", job, seconds));
}

}  // namespace fedarena::test
