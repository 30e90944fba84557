// The files of a finished run against the digests of its seal.
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "results/audit/comparison.hpp"
#include "results/record/run_directory.hpp"
#include "results/record/seal.hpp"

namespace fedarena::results {
namespace {

namespace fs = std::filesystem;

std::string digest_in(const Seal& seal, const std::string& file) {
  const auto found = seal.find(file);
  return found == seal.end() ? "missing" : found->second;
}

}  // namespace

Verification verify_seal(const FoundRun& run) {
  Verification verification;
  std::error_code ignored;
  const bool sealed = fs::is_regular_file(run.path / kSealFile, ignored);
  const bool finished = run.summary ? run.summary->state == kFinished : sealed;
  Comparison compare_seal(verification, run.path / kSealFile);
  if (!finished) {
    if (!sealed) return verification;
    const bool killed = run.summary->state == kRunning &&
                        sealed_at_its_end(run.path, read_seal(run.path), current_seal(run.path));
    compare_seal.result(killed, "the state that it seals", std::string(kFinished), run.summary->state);
    if (killed) verification.notes.emplace_back("was killed at its very end; --resume finishes it");
    return verification;
  }
  const Seal now = current_seal(run.path);
  compare_seal.result(sealed, "the seal of a finished run", "missing", counted(now.size(), "file"));
  if (!sealed) return verification;
  const Seal recorded = read_seal(run.path);
  std::set<std::string> files;
  for (const Seal* seal : {&recorded, &now}) {
    for (const auto& [file, digest] : *seal) files.insert(file);
  }
  for (const std::string& file : files) {
    Comparison compare(verification, run.path / file);
    compare.result(digest_in(recorded, file) == digest_in(now, file), fmt::format("SHA-256 in {}", kSealFile),
                   digest_in(recorded, file), digest_in(now, file));
  }
  return verification;
}

}  // namespace fedarena::results
