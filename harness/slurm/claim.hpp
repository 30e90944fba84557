#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace fedarena::slurm {

/// That a task of Slurm owns a run directory: the file `claim.json` in it, which names job, host and process.
/// It works where locks do not, on folders that several machines share. A claim is lost to a later start of
/// the same job (Slurm gave its machine up for lost and began it again elsewhere) and once its job is over.
class Claim {
 public:
  /// Claims the run directory for the job that this process belongs to; nothing outside of Slurm. Throws
  /// Error where a job that is not over has it, or where nobody can say. A claim of a job that is over is
  /// removed.
  static std::optional<Claim> take(const std::filesystem::path& run);
  /// Gives it back, unless it is lost.
  ~Claim();
  Claim(Claim&& other) noexcept
      : file_(std::move(other.file_)),
        text_(std::exchange(other.text_, {})),
        taken_over_(other.taken_over_) {}
  Claim& operator=(Claim&&) = delete;

  /// Throws Error when it is lost: whoever has it now writes to the directory, and nobody else may.
  void check() const;
  /// Whether another process may still believe that the directory is its own.
  bool taken_over() const { return taken_over_; }

 private:
  Claim(std::filesystem::path file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
  bool is_ours() const;

  std::filesystem::path file_;
  std::string text_;  // empty in one that was moved away
  bool taken_over_ = false;
};

}  // namespace fedarena::slurm
