#include "harness/runner/plan/experiment_data.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"

#include "datasets/data_hash.hpp"
#include "datasets/hold_out.hpp"
#include "datasets/registry.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

// The data set of the proxy, without the limit.
Choice proxy_source(const Experiment& experiment) {
  Choice source = experiment.proxy;
  std::erase_if(source.settings, [](const auto& setting) { return setting.first == kProxyLimit; });
  return source;
}

std::int64_t proxy_limit(const Experiment& experiment) {
  return std::get<std::int64_t>(setting(experiment.proxy.settings, kProxyLimit));
}

// The text with further settings in its brackets.
std::string with_settings(std::string text, const std::vector<std::string>& settings) {
  if (settings.empty()) return text;
  if (text.ends_with(')')) {
    text.pop_back();
    text += ", ";
  } else {
    text += " (";
  }
  return text + fmt::format("{})", fmt::join(settings, ", "));
}

// "fashion-mnist (limit = 100)".
std::string describe_proxy(const Experiment& experiment) {
  const Choice source = proxy_source(experiment);
  std::vector<std::string> limit;
  if (const std::int64_t most = proxy_limit(experiment); most > 0)
    limit.push_back(fmt::format("{} = {}", kProxyLimit, most));
  return with_settings(describe_dataset(source.name, source.settings), limit);
}

}  // namespace

Dataset load_data(const Experiment& experiment) {
  Dataset dataset = load_dataset(experiment.data.name, experiment.data.settings, default_search_path());
  if (experiment.evaluation.validation_fraction > 0) {
    hold_out(dataset, experiment.evaluation.validation_fraction);
  }
  return dataset;
}

std::vector<std::filesystem::path> own_files(const Experiment& experiment) {
  auto files = own_files(experiment.data.name, experiment.data.settings, default_search_path());
  if (!has_proxy(experiment)) return files;
  const Choice proxy = proxy_source(experiment);
  std::ranges::copy(own_files(proxy.name, proxy.settings, default_search_path()), std::back_inserter(files));
  return files;
}

bool has_proxy(const Experiment& experiment) { return experiment.proxy.name != kNoProxy; }

torch::Tensor load_proxy(const Experiment& experiment, const Dataset& data) {
  const Choice source = proxy_source(experiment);
  const torch::Tensor all = load_dataset(source.name, source.settings, default_search_path()).train.inputs;
  const auto same_kind = [](const torch::Tensor& left, const torch::Tensor& right) {
    return left.sizes().slice(1) == right.sizes().slice(1) &&
           left.is_floating_point() == right.is_floating_point();
  };
  if (!same_kind(all, data.train.inputs)) {
    const auto text = [](const torch::Tensor& inputs) {
      return fmt::format("[{}] of {}", fmt::join(inputs.sizes().slice(1), ", "),
                         inputs.is_floating_point() ? "numbers" : "pixels");
    };
    throw Error(Complaint{
        .found = fmt::format("[proxy] \"{}\" has inputs {}, but those of the data set \"{}\" are {}",
                             source.name, text(all), data.name, text(data.train.inputs)),
        .remedy = "choose a proxy whose inputs have the same shape, such as fashion-mnist for mnist or "
                  "cifar100 for cifar10"});
  }
  const std::int64_t limit = proxy_limit(experiment);
  if (limit > all.size(0)) {
    throw Error(Complaint{.found = fmt::format("[proxy] limit = {}, but \"{}\" has {} training examples",
                                               limit, source.name, all.size(0)),
                          .allowed = fmt::format("at most {}, or 0 for all", all.size(0))});
  }
  const std::int64_t count = limit == 0 ? all.size(0) : limit;
  return all.narrow(0, 0, count).clone();  // lets go of the rest
}

std::int64_t count_known_unscaled(const Experiment& experiment) {
  const Choice source = proxy_source(experiment);
  const SearchPath path = default_search_path();
  const torch::Tensor proxy = load_unscaled_inputs(source.name, source.settings, path);
  if (!proxy.defined()) return 0;
  const torch::Tensor data = load_unscaled_inputs(experiment.data.name, experiment.data.settings, path);
  if (!data.defined()) return 0;
  const std::int64_t limit = proxy_limit(experiment);
  return count_known(limit == 0 ? proxy : proxy.narrow(0, 0, limit), data);
}

std::string choice_text(const Choice& choice) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : choice.settings)
    parts.push_back(fmt::format("{} = {}", name, results::value_in_words(to_text(value))));
  return parts.empty() ? choice.name : fmt::format("{} ({})", choice.name, fmt::join(parts, ", "));
}

std::string describe_data(const Experiment& experiment) {
  std::vector<std::string> additions;
  for (const auto& [key, part] : {std::pair("validation_fraction", experiment.evaluation.validation_fraction),
                                  std::pair("held_out_clients", experiment.evaluation.held_out_clients)}) {
    if (part > 0) additions.push_back(fmt::format("{} = {}", key, to_text(part)));
  }
  if (has_proxy(experiment)) additions.push_back("proxy = " + describe_proxy(experiment));
  return with_settings(describe_dataset(experiment.data.name, experiment.data.settings), additions);
}

std::string data_note(const Experiment& experiment, const Dataset& dataset) {
  std::string note = dataset.note;
  if (!has_proxy(experiment)) return note;
  if (note.ends_with('.')) note.pop_back();
  return fmt::format("{}{}the server also has {}, without labels", note, note.empty() ? "" : "; ",
                     describe_proxy(experiment));
}

}  // namespace fedarena
