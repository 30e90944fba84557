#include "harness/runner/plan/weights_file.hpp"

#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/nearest.hpp"

#include "datasets/published/published_files.hpp"
#include "datasets/registry.hpp"
#include "harness/digest/sha256.hpp"
#include "harness/models/parameter_names.hpp"
#include "harness/simulation/round_notes.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;
using results::Array;
using results::NamedArrays;

constexpr const char* kWeights = "weights";
constexpr const char* kWeightsHash = "weights_sha256";

struct WeightsConfig {
  std::string weights, weights_sha256;
};

std::string text_setting(const Settings& settings, const char* name) {
  const auto* text = find_setting<std::string>(settings, name);
  return text == nullptr ? "" : *text;
}

fs::path file_of(const Settings& model) {
  return find_own(kWeights, text_setting(model, kWeights), default_search_path());
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Shares its memory.
torch::Tensor as_tensor(const Array& array) {
  return std::visit(
      [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        return torch::from_blob(const_cast<Value*>(values.data()), array.shape,
                                c10::CppTypeToScalarType<Value>::value);
      },
      array.values);
}

// The file's arrays as parameters of the model; an Error names the first that does not fit.
Params fitted(const fs::path& file, const NamedArrays& arrays, const Model& model) {
  const std::vector<std::string> names = parameter_names(model.architecture());
  std::vector<std::string> tensors;
  for (std::size_t index = 0; index < names.size(); ++index)
    tensors.push_back(fmt::format("\"{}\" {}", names[index], shape_text((*model.layout())[index].shape)));
  const auto refuse = [&](std::string found, std::string allowed, std::string nearest = {}) {
    throw Error::in(file, std::move(found), {.allowed = std::move(allowed), .nearest = std::move(nearest)});
  };
  for (const auto& [name, array] : arrays) {
    if (!contains(names, name))
      refuse(fmt::format("holds \"{}\", which is no tensor of the model", name), join_names(tensors),
             nearest_name(name, names));
  }
  const bool is_single = model.options().dtype() == torch::kFloat32;
  Params params = Params::zeros(model.layout(), model.options().device(torch::kCPU));
  for (std::size_t index = 0; index < names.size(); ++index) {
    const auto* found = find_named(arrays, names[index], &NamedArrays::value_type::first);
    if (found == nullptr) refuse(fmt::format("has no {}, a tensor of the model", tensors[index]), "");
    const Array& array = found->second;
    const std::string its = fmt::format("its \"{}\" ", names[index]);
    if (array.shape != (*model.layout())[index].shape)
      refuse(its + "is " + shape_text(array.shape), fmt::format("{}, as in the model", tensors[index]));
    const std::string type = results::type_of(array);
    if (type == "int64" || (is_single && type == "float64"))
      refuse(its + "is " + type, is_single ? "float32, as experiment.dtype" : "float32 or float64");
    const torch::Tensor tensor = as_tensor(array);
    if (!tensor.isfinite().all().item<bool>())
      refuse(its + "has numbers that are infinite or not a number", "");
    params[index].copy_(tensor);
  }
  return {model.layout(), params.flat().to(model.options())};
}

}  // namespace

std::vector<Field> weights_fields() {
  return Schema<WeightsConfig>{
      {kWeights,
       &WeightsConfig::weights,
       "an .npz file as `fedarena model` writes it, to begin from in place of weights that the seed draws",
       {},
       true},
      {kWeightsHash,
       &WeightsConfig::weights_sha256,
       "the SHA-256 of what that file holds, which runs fill in; other weights are refused",
       {},
       true}}
      .fields();
}

void check_weights_settings(const Settings& model) {
  const std::string hash = text_setting(model, kWeightsHash);
  if (hash.empty()) return;
  if (!is_sha256(hash))
    throw Error(Complaint{.found = fmt::format("{} is \"{}\"", kWeightsHash, hash),
                          .allowed = "64 hexadecimal digits in lower case"});
  if (!text_setting(model, kWeights).empty()) return;
  throw Error(Complaint{.found = fmt::format("{} is given without {}", kWeightsHash, kWeights),
                        .remedy = "name the file as well, or leave it out"});
}

Settings without_weights(Settings model) {
  std::erase_if(
      model, [](const auto& setting) { return setting.first == kWeights || setting.first == kWeightsHash; });
  return model;
}

bool has_weights(const Choice& model) { return !text_setting(model.settings, kWeights).empty(); }

std::string recorded_weights_hash(const Choice& model) { return text_setting(model.settings, kWeightsHash); }

std::string weights_hash(const Choice& model) {
  return results::content_hash(results::read_npz(file_of(model.settings)));
}

void pin_weights(FilePlan& plan) {
  std::map<std::string, std::string> hashes;  // by file as written
  const auto pin = [&](std::vector<GridPoint>& points) {
    for (GridPoint& point : points) {
      Choice& model = point.experiment.model;
      if (!has_weights(model) || !recorded_weights_hash(model).empty()) continue;
      std::string& hash = hashes[text_setting(model.settings, kWeights)];
      if (hash.empty()) hash = weights_hash(model);
      model.settings.emplace_back(kWeightsHash, hash);
    }
  };
  pin(plan.points);
  if (plan.tuning) pin(plan.tuning->points);
}

Params read_weights(const Choice& choice, const Model& model) {
  const fs::path file = file_of(choice.settings);
  const NamedArrays arrays = results::read_npz(file);
  const std::string hash = results::content_hash(arrays), wanted = recorded_weights_hash(choice);
  if (hash != wanted && !wanted.empty())
    throw Error::in(file, fmt::format("these are other weights: their SHA-256 is {}", hash),
                    {.allowed = wanted, .remedy = "Put back the file that was recorded or asked for"});
  return fitted(file, arrays, model);
}

NamedArrays named_arrays(const Params& params, const Model& model) {
  const std::vector<std::string> names = parameter_names(model.architecture());
  FEDARENA_CHECK(names.size(), ==, params.size());
  NamedArrays arrays;
  for (std::size_t index = 0; index < names.size(); ++index) {
    const torch::Tensor tensor = params[index].to(torch::kCPU).contiguous();
    Array array = to_array(tensor);
    if (const auto* first = tensor.scalar_type() == torch::kFloat64 ? tensor.data_ptr<double>() : nullptr)
      array.values = std::vector<double>(first, first + tensor.numel());
    arrays.emplace_back(names[index], std::move(array));
  }
  return arrays;
}

}  // namespace fedarena
