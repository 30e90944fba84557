#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/harness/app/program.hpp"

namespace fedarena::test {

/// A cluster of two nodes of two cores each, n1 and n2, on this machine: munged, slurmctld and two slurmd as
/// children of the test, all that is theirs in a scratch folder, by the user who tests. Jobs of the
/// partition "high" take the place of others.
class SlurmCluster {
 public:
  /// Whether the programs are there; says in a line which package is missing, where not.
  static bool installed();

  /// Starts it and waits until both nodes are idle.
  SlurmCluster();
  /// Cancels all jobs, and ends all daemons.
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// What commands need to find it.
  Start start() const { return {.environment = {{"SLURM_CONF", configuration_}}}; }
  /// The output of a command of Slurm, or of the program, in a folder; one that fails ends the test.
  std::string ask(const Scratch& folder, const CommandLine& command) const;
  /// Polls until the condition holds; false after a minute.
  bool wait_until(const std::function<bool()>& condition) const;
  /// "PENDING", "RUNNING", ...; of a job that is over, "".
  std::string state(const std::string& job) const;
  /// Lets a job begin soon that was queued again, for which Slurm would wait two minutes. Not in the same
  /// second: its nodes would take the new start for the one that they just ended.
  void begin_in(int seconds, const std::string& job) const;
  /// Kills a daemon, "slurmctld", "n1" or "n2"; or begins it again, with what it knew.
  void kill(const std::string& daemon) { daemons_.erase(daemon); }
  /// What the controller would know again if it were killed now: its file of jobs.
  std::string saved_jobs() const { return content_of(scratch_ / "state/job_state"); }
  void begin(const std::string& daemon);

 private:
  Outcome call(const std::string& program, const CommandLine& words) const;

  const Scratch scratch_;
  std::string configuration_;
  std::map<std::string, std::unique_ptr<Program>> daemons_;
};

}  // namespace fedarena::test
