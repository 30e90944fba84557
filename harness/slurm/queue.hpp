#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedarena::slurm {

/// A job, or one task of a job array, that waits, runs or ends just now.
struct Task {
  std::string id;      ///< "5", or "5_3" of an array
  std::string state;   ///< as Slurm calls it: "PENDING", "RUNNING", "COMPLETING", ...
  std::string node;    ///< where it runs; empty before
  std::string reason;  ///< why it waits: "Resources", "Dependency", ...

  bool running() const { return state == "RUNNING"; }
  /// "5_3 on n1", or "5_3: Resources".
  std::string text() const;
};

/// Whether the text is the id of a job, "5", or of a task, "5_3".
bool is_job_id(std::string_view text);

/// Which tasks of these jobs the controller knows still, each task of an array by itself; those that ended
/// are not among them. Nothing where there is no squeue, or where the controller does not answer within 20 s.
std::optional<std::vector<Task>> ask_queue(const std::vector<std::string>& jobs);

/// How many tasks a job array of this cluster may have; nothing where scontrol does not say.
std::optional<std::size_t> most_tasks();

/// What squeue prints, one task a line: id|state|node|reason. Lines of another form are left out.
std::vector<Task> parse_queue(std::string_view text);

}  // namespace fedarena::slurm
