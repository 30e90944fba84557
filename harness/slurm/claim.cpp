#include "harness/slurm/claim.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "harness/slurm/queue.hpp"
#include "results/record/durable_file.hpp"
#include "results/record/json_fields.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::slurm {
namespace {

namespace fs = std::filesystem;

// A write of the owner before that has begun ends meanwhile.
constexpr std::chrono::seconds kLastWrite{1};

struct Owner {
  std::string job;  // of an array, the task: "5_3"
  std::int64_t restart = 0;
  std::string host;
  std::int64_t process = 0;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Nothing outside of Slurm.
std::optional<Owner> this_process() {
  std::string job = environment("SLURM_JOB_ID");
  const std::string array = environment("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) job = fmt::format("{}_{}", array, environment("SLURM_ARRAY_TASK_ID"));
  if (!is_job_id(job)) return std::nullopt;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  // Not there before the first restart.
  const auto restart = parse_number<std::int64_t>(environment("SLURM_RESTART_COUNT"));
  return Owner{job, restart.value_or(0), host.data(), ::getpid()};
}

std::string to_text(const Owner& owner) {
  const results::Json json = {
      {"job", owner.job}, {"restart", owner.restart}, {"host", owner.host}, {"process", owner.process}};
  return results::json_text(json, 1) + "\n";
}

// Nothing where there is no claim, or half of one, whose writer was killed.
std::optional<Owner> owner_in(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    results::JsonFields fields(results::read_whole_file(file), {.file = file.string()});
    Owner owner{fields.text("job"), fields.integer("restart", 0), fields.text("host"),
                fields.integer("process", 0)};
    return is_job_id(owner.job) ? std::optional(owner) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string name_of(const Owner& owner) {
  return fmt::format("job {} on {}", owner.job, one_line(owner.host));
}

void refuse_unless_over(const Owner& owner, const fs::path& file) {
  const auto tasks = ask_queue({owner.job});
  if (tasks && tasks->empty()) return;
  throw Error::in(file.parent_path(),
                  tasks ? fmt::format("this cell belongs to {}, which is queued or runs", name_of(owner))
                        : fmt::format("this cell belongs to {}, and squeue does not say whether that is over",
                                      name_of(owner)),
                  {.remedy = tasks ? fmt::format("Wait for it, or stop it with `scancel {}`.", owner.job)
                                   : fmt::format("Once it is over for certain, remove {}.", file.string())});
}

}  // namespace

std::optional<Claim> Claim::take(const fs::path& run) {
  const fs::path file = run / results::kClaimFile;
  const std::optional<Owner> own = this_process();
  if (own && results::create_file(file, to_text(*own))) return Claim(file, to_text(*own));
  const std::optional<Owner> before = owner_in(file);
  const bool same_job = own && before && own->job == before->job;
  if (same_job && before->restart > own->restart) {
    throw Error::in(run, fmt::format("this cell belongs to a later start of {}", name_of(*before)),
                    {.remedy = "That one goes on; this process ends."});
  }
  if (same_job && before->restart == own->restart && before->host == own->host &&
      ::kill(static_cast<pid_t>(before->process), 0) == 0) {
    throw Error::in(run, fmt::format("process {} of the same job is running this cell", before->process),
                    {.remedy = "Start the program once in a job, or give each its own cells with --only"});
  }
  if (before && !same_job) refuse_unless_over(*before, file);
  if (!own) {
    std::error_code ignored;  // mostly there is none
    fs::remove(file, ignored);
    return std::nullopt;
  }
  results::replace_file(file, to_text(*own));
  Claim claim(file, to_text(*own));
  claim.taken_over_ = true;
  std::this_thread::sleep_for(kLastWrite);
  claim.check();  // of two that took it over at once, the second has it
  return claim;
}

Claim::~Claim() {
  std::error_code ignored;
  if (!text_.empty() && is_ours()) fs::remove(file_, ignored);
}

bool Claim::is_ours() const {
  try {
    return results::read_whole_file(file_) == text_;
  } catch (const Error&) {  // gone: another start of the program found that this job is over
    return false;
  }
}

void Claim::check() const {
  if (is_ours()) return;
  const std::optional<Owner> now = owner_in(file_);
  throw Error::in(
      file_.parent_path(),
      fmt::format("this cell belongs to {} now, because Slurm held the job of this process for over",
                  now ? name_of(*now) : "another process"),
      {.remedy = "That one goes on; this process writes nothing more."});
}

}  // namespace fedarena::slurm
