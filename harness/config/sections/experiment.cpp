#include "harness/config/sections/experiment.hpp"

#include <algorithm>
#include <cmath>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "harness/config/sections/sections.hpp"

namespace fedarena {
namespace {

std::string line(const std::string& key, const Value& value) {
  return fmt::format("{} = {}\n", key, to_text(value));
}

// The text names a cell. Keys that came later are written if one of them is set, so that older cells keep
// theirs.
std::string lines(const std::vector<config::Key>& keys, const void* part, const void* defaults) {
  const bool later = std::ranges::any_of(keys, [&](const config::Key& key) {
    return key.field.later && key.field.load(part) != key.field.load(defaults);
  });
  std::string text;
  for (const config::Key& key : keys) {
    if (later || !key.field.later) text += line(key.field.name, key.field.load(part));
  }
  return text;
}

std::string lines(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += line(name, value);
  return text;
}

}  // namespace

std::int64_t Experiment::held_out_clients(std::int64_t clients) const {
  if (evaluation.held_out_clients == 0) return 0;
  const std::int64_t count =
      std::max<std::int64_t>(1, std::llround(evaluation.held_out_clients * static_cast<double>(clients)));
  if (count < clients) return count;
  throw Error(
      Complaint{.found = fmt::format("held_out_clients = {} of {} leaves nobody to train",
                                     to_text(evaluation.held_out_clients), counted(clients, "client")),
                .remedy = "hold out less, or deal the examples to more clients"});
}

std::int64_t Experiment::cohort_size(std::int64_t clients) const {
  FEDARENA_CHECK(clients, >=, 1);
  clients -= held_out_clients(clients);
  if (cohort.fraction > 0) {
    // Rounded, because 0.29 * 100 is a little less than 29.
    return std::clamp<std::int64_t>(std::llround(cohort.fraction * static_cast<double>(clients)), 1, clients);
  }
  if (cohort.size > clients) {
    throw Error(Complaint{.found = fmt::format("[cohort] size is {}", cohort.size),
                          .allowed = fmt::format("an integer from 0 to {}, the clients that train", clients),
                          .remedy = "Take fewer, deal the examples to more clients, or hold out less"});
  }
  return cohort.size == 0 ? clients : cohort.size;
}

std::vector<CatalogEntry> proxies_among(const std::vector<CatalogEntry>& datasets) {
  struct Limit {
    std::int64_t examples = 0;
  };
  const std::vector<Field> limit = Schema<Limit>{
      {kProxyLimit, &Limit::examples, "How many examples are taken, from the first; 0: all.",
       Constraint::at_least(0)}}.fields();
  std::vector<CatalogEntry> result{{.name = std::string(kNoProxy), .summary = "None.", .fields = {}}};
  for (CatalogEntry entry : datasets) {
    entry.fields.push_back(limit.front());
    if (entry.check) {
      entry.check = [check = entry.check](Settings settings) {
        std::erase_if(settings, [](const auto& setting) { return setting.first == kProxyLimit; });
        check(settings);
      };
    }
    result.push_back(std::move(entry));
  }
  return result;
}

const CatalogEntry* find_entry(const std::vector<CatalogEntry>& entries, const std::string& name) {
  return find_named(entries, name, &CatalogEntry::name);
}

std::optional<int> gpu_number(std::string_view device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (device == "cuda") return 0;
  if (!device.starts_with(kPrefix)) return std::nullopt;
  const std::optional<int> number = parse_number<int>(device.substr(kPrefix.size()));
  // One spelling for each, because records of runs are compared as texts.
  if (!number || *number < 0 || device != fmt::format("{}{}", kPrefix, *number)) return std::nullopt;
  return number;
}

bool is_device(std::string_view text) { return text == "auto" || text == "cpu" || gpu_number(text); }

std::string nearest_device(std::string_view text) {
  static const std::vector<std::string> kExamples{"auto", "cpu", "cuda", "cuda:0"};
  return nearest_name(text, kExamples);
}

const Value& setting(const Settings& settings, const std::string& name) {
  const auto* found = find_named(settings, name, &Settings::value_type::first);
  if (found == nullptr) throw Bug(fmt::format("no setting \"{}\"", name));
  return found->second;
}

std::string to_toml(const Experiment& experiment) {
  using Kind = config::SectionSpec::Kind;
  std::string text = "# Every setting of the experiment, defaults included.\n";
  Experiment source = experiment, defaults;
  const AlgorithmEntry no_entry;
  const Choice no_choice;
  const Catalog nothing;  // names and settings are in the experiment
  for (const config::SectionSpec& spec : config::sections(nothing)) {
    const std::string header = fmt::format("\n{}\n", spec.header());
    if (spec.part) {
      const std::string written = lines(spec.keys, spec.part(source), spec.part(defaults));
      if (!written.empty()) text += header + written;
      if (!written.empty() && spec.kind == Kind::kChoice)
        text += lines(static_cast<const Choice*>(spec.part(source))->settings);
    }
    // [training] has gone into the algorithms.
    if (spec.kind == Kind::kAlgorithms) {
      for (const AlgorithmEntry& entry : source.algorithms) {
        text += header + lines(spec.keys, &entry, &no_entry) + lines(entry.settings);
        for (const config::SectionSpec& own : spec.own) {
          const Choice& choice = entry.*own.own_choice;
          text += fmt::format("\n{}\n", own.header()) + lines(own.keys, &choice, &no_choice) +
                  lines(choice.settings);
        }
      }
    }
  }
  return text;
}

}  // namespace fedarena
