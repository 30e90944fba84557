#include "harness/attack/membership.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/attack/attacked_examples.hpp"
#include "harness/attack/logistic_regression.hpp"
#include "harness/attack/sent_images.hpp"
#include "harness/digest/sha256.hpp"
#include "harness/gradients/kernels/kernels.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena {
namespace {

constexpr const char* kLoss = "loss";
constexpr const char* kGradientNorm = "gradient-norm";
constexpr const char* kLearned = "learned";
constexpr const char* kRmia = "rmia";
constexpr const char* kLira = "lira";
constexpr const char* kImageDistance = "image-distance";

using Numbers = std::vector<double>;

// A number for each attacked example.
struct OfExamples {
  Numbers members, non_members, known_members, known_non_members;
};

Numbers negated(Numbers numbers) {
  for (double& number : numbers) number = -number;
  return numbers;
}

// A run as one asked for references: which training examples it did not leave out.
struct Reference {
  const FinishedRun* run;
  std::vector<bool> touched;  // by position
};

Reference reference_of(const FinishedRun& run) {
  Reference reference{&run, std::vector<bool>(static_cast<std::size_t>(run.dataset().train.size()))};
  for (const std::int64_t position : touched_examples(run).positions)
    reference.touched[static_cast<std::size_t>(position)] = true;
  return reference;
}

class Attacker {
 public:
  Attacker(const FinishedRun& run, std::span<const FinishedRun* const> references,
           const MembershipSetting& setting)
      : run_(run),
        setting_(setting),
        reader_(run.dataset(), run.model().options()),
        engine_(run.model(), setting.pool) {
    for (const FinishedRun* reference : references) references_.push_back(reference_of(*reference));
  }

  results::MembershipAttacks attack() {
    std::size_t least = 0;
    for (const std::string& score : setting_.scores) least = std::max(least, check(score));
    Eligible eligible;
    if (least > 0) eligible = [this](std::int64_t position) { return left_out_somewhere(position); };
    examples_ = draw_attacked_examples(run_, setting_.examples, eligible);
    const auto directory = results::RunDirectory::open(run_.path());
    results::MembershipAttacks attacks{
        .run = sha256_of(std::string_view(directory.read_file(results::kSummaryFile))),
        .seed = run_.summary().seed,
        .non_members = std::string(examples_.non_members_are),
        .member_examples = scored(examples_.members, true),
        .non_member_examples = scored(examples_.non_members, false),
        .attacks = {}};
    if (run_.dataset().classes > 0) {
      attacks.member_accuracy = accuracy(examples_.members);
      attacks.non_member_accuracy = accuracy(examples_.non_members);
    }
    for (const std::string& score : setting_.scores) {
      if (setting_.tell) setting_.tell(score);
      results::MembershipAttack attack = score_by(score);
      attack.score = score;
      if (!measure(attack, attacks)) {
        refuse("the model diverged: losses of examples are not numbers", "Attack a run that did not.");
      }
      attacks.attacks.push_back(std::move(attack));
    }
    return attacks;
  }

 private:
  [[noreturn]] void refuse(std::string found, std::string remedy) const {
    throw Error::in(run_.path(), std::move(found), {.remedy = std::move(remedy)});
  }

  // Returns how many references the score needs.
  std::size_t check(const std::string& name) const {
    if (name == kImageDistance && results::SyntheticFolder(run_.path()).rounds().empty()) {
      refuse(
          fmt::format("{} asks images that clients sent, and the run holds none: its algorithm is \"{}\"",
                      name, run_.summary().algorithm),
          "Leave this score out. Algorithms whose server has synthetic images keep them, such as fedlap, psg "
          "and sda-fl.");
    }
    const std::size_t least = results::least_references(name);
    if (least == 0) return 0;
    if (run_.model().architecture().loss != Loss::kCrossEntropy) {
      refuse(fmt::format("{} is about the probability of a class, and this run's model is trained by squared "
                         "errors, which give none",
                         name),
             fmt::format("Use {}.", kLoss));
    }
    if (references_.size() < least) {
      refuse(
          fmt::format("{} asks models of the same experiment under other seeds, at least {}; there {} {}",
                      name, least, references_.size() == 1 ? "is" : "are", references_.size()),
          "Run the experiment with more seeds, and with [partition] train_fraction = 0.5, so that each seed "
          "leaves other examples out.");
    }
    const SeenExamples members = touched_examples(run_);
    if (std::ranges::none_of(members.positions,
                             [&](std::int64_t position) { return left_out_somewhere(position); })) {
      refuse(fmt::format("{} asks models that did not train on an example, and every seed trained on all of "
                         "them",
                         name),
             "Set [partition] train_fraction = 0.5, so that each seed leaves other examples out.");
    }
    return least;
  }

  bool left_out_somewhere(std::int64_t position) const {
    return std::ranges::any_of(references_, [&](const Reference& reference) {
      return !reference.touched[static_cast<std::size_t>(position)];
    });
  }

  // Positions are recorded as `partition` lists them: before some examples were drawn away.
  std::vector<results::ScoredExample> scored(const SeenExamples& examples, bool members) const {
    const std::vector<std::int64_t>& before = examples.part->positions;
    std::vector<results::ScoredExample> result;
    for (std::size_t i = 0; i < examples.positions.size(); ++i) {
      results::ScoredExample& example = result.emplace_back();
      const std::int64_t position = examples.positions[i];
      example.position = before.empty() ? position : before[static_cast<std::size_t>(position)];
      if (members || run_.skewed()) example.client = examples.clients[i];
      if (run_.dataset().classes > 0)
        example.label = examples.part->targets.data_ptr<std::int64_t>()[position];
    }
    return result;
  }

  BatchSource source(const SeenExamples& examples) const {
    return [this, read = source_of(examples, run_, reader_)](std::int64_t begin, std::int64_t end) {
      if (setting_.stop.load(std::memory_order_relaxed)) throw Interrupted();
      return read(begin, end);
    };
  }

  double accuracy(const SeenExamples& examples) const {
    const Score score = engine_.evaluate(run_.params(), examples.size(), source(examples));
    return static_cast<double>(score.correct) / static_cast<double>(score.examples);
  }

  Numbers losses(const Params& model, const SeenExamples& examples) const {
    return kernels::to_vector(engine_.losses(model, examples.size(), source(examples)));
  }

  // Of the run's own model, once.
  const OfExamples& losses() {
    return once(losses_, [&](const SeenExamples& examples) { return losses(run_.params(), examples); });
  }
  const OfExamples& norms() {
    return once(norms_, [&](const SeenExamples& examples) {
      return kernels::to_vector(engine_.gradient_norms(run_.params(), examples.size(), source(examples)));
    });
  }

  template <typename Each>
  const OfExamples& once(OfExamples& numbers, const Each& each) const {
    if (numbers.members.empty()) {
      numbers = {.members = each(examples_.members),
                 .non_members = each(examples_.non_members),
                 .known_members = each(examples_.known_members),
                 .known_non_members = each(examples_.known_non_members)};
    }
    return numbers;
  }

  results::MembershipAttack score_by(const std::string& name) {
    if (name == kLoss) return scores(negated(losses().members), negated(losses().non_members));
    if (name == kGradientNorm) return scores(negated(norms().members), negated(norms().non_members));
    if (name == kLearned) return learned();
    if (name == kImageDistance) return image_distance();
    results::MembershipAttack attack = name == kRmia ? rmia() : lira();
    for (const Reference& reference : references_)
      attack.references.push_back(reference.run->path().filename().string());
    return attack;
  }

  static results::MembershipAttack scores(Numbers members, Numbers non_members) {
    results::MembershipAttack attack;
    attack.members = std::move(members);
    attack.non_members = std::move(non_members);
    return attack;
  }

  results::MembershipAttack learned() {
    const auto features = [&](Numbers OfExamples::*which) {
      std::vector<Numbers> rows;
      for (std::size_t i = 0; i < (losses().*which).size(); ++i) {
        Numbers row;
        for (const double s : {(losses().*which)[i], (norms().*which)[i]}) {
          for (const double feature : {s, s * s, std::log(std::max(s, 1e-12))}) row.push_back(feature);
        }
        rows.push_back(std::move(row));
      }
      return rows;
    };
    const LogisticRegression regression(features(&OfExamples::known_members),
                                        features(&OfExamples::known_non_members));
    return scores(regression.logits(features(&OfExamples::members)),
                  regression.logits(features(&OfExamples::non_members)));
  }

  // For each example what the models say of it that left it out. A test example was left out by all.
  std::vector<Numbers> losses_where_left_out(const SeenExamples& examples) const {
    std::vector<Numbers> result(examples.positions.size());
    const bool tests = examples.part == &run_.dataset().test;
    for (const Reference& reference : references_) {
      const Numbers under = losses(reference.run->params(), examples);
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (tests || !reference.touched[static_cast<std::size_t>(examples.positions[i])])
          result[i].push_back(under[i]);
      }
    }
    return result;
  }

  // Equation 4 and the offline approximation of Section 3: p(x) / Pr(x).
  Numbers likelihood_ratios(const Numbers& own_losses, const SeenExamples& examples) const {
    constexpr double kA = 0.3;
    const std::vector<Numbers> left_out = losses_where_left_out(examples);
    Numbers ratios;
    for (std::size_t i = 0; i < own_losses.size(); ++i) {
      double mean = 0;
      for (const double loss : left_out[i]) mean += std::exp(-loss) / static_cast<double>(left_out[i].size());
      ratios.push_back(std::exp(-own_losses[i]) / ((1 + kA) / 2 * mean + (1 - kA) / 2));
    }
    return ratios;
  }

  results::MembershipAttack rmia() {
    const OfExamples& own = losses();
    Numbers population = likelihood_ratios(losses(run_.params(), examples_.population), examples_.population);
    std::ranges::sort(population);
    const auto share_below = [&](Numbers ratios) {
      for (double& ratio : ratios) {
        const auto below = std::ranges::lower_bound(population, ratio) - population.begin();
        ratio = static_cast<double>(below) / static_cast<double>(population.size());
      }
      return ratios;
    };
    return scores(share_below(likelihood_ratios(own.members, examples_.members)),
                  share_below(likelihood_ratios(own.non_members, examples_.non_members)));
  }

  // log(p / (1 - p)) of p = exp(-loss).
  static double logit(double loss) {
    constexpr double kLeast = 1e-7;  // single precision sees no smaller difference from certainty
    const double at_least = std::max(loss, kLeast);
    return -at_least - std::log(-std::expm1(-at_least));
  }

  results::MembershipAttack lira() {
    const std::vector<Numbers> members = losses_where_left_out(examples_.members);
    const std::vector<Numbers> non_members = losses_where_left_out(examples_.non_members);
    double squares = 0;
    std::int64_t freedom = 0;
    const auto mean_logit = [](const Numbers& left_out) {
      double mean = 0;
      for (const double loss : left_out) mean += logit(loss) / static_cast<double>(left_out.size());
      return mean;
    };
    for (const auto* half : {&members, &non_members}) {
      for (const Numbers& left_out : *half) {
        const double mean = mean_logit(left_out);
        for (const double loss : left_out) squares += (logit(loss) - mean) * (logit(loss) - mean);
        freedom += std::ssize(left_out) - 1;
      }
    }
    const double deviation = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(freedom, 1)));
    const auto standardised = [&](const Numbers& own, const std::vector<Numbers>& left_out) {
      Numbers result;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double above = logit(own[i]) - mean_logit(left_out[i]);
        result.push_back(deviation > 0 ? above / deviation : above);
      }
      return result;
    };
    return scores(standardised(losses().members, members), standardised(losses().non_members, non_members));
  }

  results::MembershipAttack image_distance() {
    const torch::Tensor images = sent_images(run_).flatten(1);
    const auto scores_of = [&](const SeenExamples& examples) {
      Numbers result;
      const BatchSource read = source(examples);
      for (std::int64_t begin = 0; begin < examples.size(); begin += kImagesAtOnce) {
        const Batch batch = read(begin, std::min(examples.size(), begin + kImagesAtOnce));
        const torch::Tensor pixels = reader_.pixels(batch.inputs).flatten(1);
        // Of any class: labels beside images may be guesses. Products find the nearest, differences measure
        // it.
        const torch::Tensor nearest = images.index_select(0, torch::cdist(pixels, images).argmin(1));
        const Numbers distances = kernels::to_vector((pixels - nearest).norm(2, 1));
        result.insert(result.end(), distances.begin(), distances.end());
      }
      return negated(std::move(result));
    };
    return scores(scores_of(examples_.members), scores_of(examples_.non_members));
  }

  static constexpr std::int64_t kImagesAtOnce = 256;

  const FinishedRun& run_;
  const MembershipSetting& setting_;
  ExampleReader reader_;
  GradientEngine engine_;
  std::vector<Reference> references_;
  AttackedExamples examples_;
  OfExamples losses_, norms_;
};

}  // namespace

std::span<const std::string_view> membership_scores() { return results::kMembershipScores; }

results::MembershipAttacks attack_membership(const FinishedRun& run,
                                             std::span<const FinishedRun* const> references,
                                             const MembershipSetting& setting) {
  return Attacker(run, references, setting).attack();
}

bool are_alike(const FinishedRun& run, const FinishedRun& other) {
  Experiment left = run.experiment(), right = other.experiment();
  const bool same_seed = left.seeds == right.seeds;
  left.seeds = right.seeds = {};
  return !same_seed && left == right;
}

}  // namespace fedarena
