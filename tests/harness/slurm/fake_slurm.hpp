#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/environment.hpp"
#include "tests/scratch.hpp"

namespace fedarena::test {

/// A squeue, or another program of Slurm, that does what these lines of sh do, found before every other one.
class FakeQueue {
 public:
  explicit FakeQueue(const std::string& lines)
      : path_(Variables{{"PATH", scratch_.path().string() + ":" + std::getenv("PATH")}}) {
    answer(lines);
  }
  void answer(const std::string& lines, const std::string& name = "squeue") const {
    const std::filesystem::path program = scratch_.write(name, "#!/bin/sh\n" + lines + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

 private:
  Scratch scratch_;
  Environment path_;
};

/// The environment of a task of a job array.
inline Variables task(const std::string& job, const std::string& number,
                      const std::optional<std::string>& restart = {}) {
  return {{"SLURM_JOB_ID", "4711"},
          {"SLURM_ARRAY_JOB_ID", job},
          {"SLURM_ARRAY_TASK_ID", number},
          {"SLURM_RESTART_COUNT", restart}};
}

/// That of a process outside of Slurm.
inline Variables no_task() {
  return {{"SLURM_JOB_ID", {}},
          {"SLURM_ARRAY_JOB_ID", {}},
          {"SLURM_ARRAY_TASK_ID", {}},
          {"SLURM_RESTART_COUNT", {}}};
}

}  // namespace fedarena::test
