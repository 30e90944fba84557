#include "harness/runner/plan/shared_inputs.hpp"

#include <algorithm>
#include <iterator>
#include <malloc.h>
#include <optional>
#include <utility>

#include "fedarena/base/error.hpp"

#include "datasets/data_hash.hpp"
#include "harness/models/zoo.hpp"
#include "harness/oracle/example_reader.hpp"
#include "harness/runner/plan/device.hpp"
#include "harness/runner/plan/weights_file.hpp"
#include "harness/simulation/cohort.hpp"
#include "harness/wire/parts.hpp"
#include "partitions/feature_skew.hpp"
#include "partitions/test_shares.hpp"

namespace fedarena {
namespace {

// The next cells are mostly of the same partitions.
constexpr std::size_t kRecent = 8;

torch::TensorOptions tensor_options(const Experiment& experiment) {
  return torch::TensorOptions()
      .dtype(experiment.dtype == "float64" ? torch::kFloat64 : torch::kFloat32)
      .device(device_of(experiment.device));
}

ModelInput model_input(const Dataset& dataset) {
  const Examples& train = dataset.train;
  const bool regression = dataset.classes == 0;
  return {.shape = train.inputs.sizes().slice(1).vec(),
          .outputs = regression ? train.targets.size(1) : dataset.classes,
          .regression = regression};
}

std::int64_t bytes_of(const Examples& examples) {
  const auto bytes = [](const torch::Tensor& tensor) {
    return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
  };
  return bytes(examples.inputs) + bytes(examples.targets) +
         static_cast<std::int64_t>(examples.users.size() * sizeof(std::int64_t));
}

// What tells data sets apart: two experiments that hold out different parts share none.
std::string data_key(const Experiment& experiment) {
  return fmt::format("{}\n{}", choice_text(experiment.data), experiment.evaluation.validation_fraction);
}

// Of the proxy's examples as they are in files, and of the hash of data and proxy.
std::string stored_key(const Experiment& experiment) {
  return data_key(experiment) + "\n" + choice_text(experiment.proxy);
}

// Of the proxy's inputs as models take them.
std::string inputs_key(const Experiment& experiment) {
  return fmt::format("{}\n{}\n{}", stored_key(experiment), experiment.device, experiment.dtype);
}

std::string model_key(const Experiment& experiment) {
  return fmt::format("{}\n{}\n{}\n{}", data_key(experiment), choice_text(experiment.model), experiment.device,
                     experiment.dtype);
}

// What was loaded and then copied to memory of the host would stay with this process (keep_freed_memory).
void give_freed_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// What has no meaning without classes is refused, not left out.
void check_regression(const Experiment& experiment) {
  if (experiment.stopping.target_accuracy == 0) return;
  throw Error(Complaint{.found = fmt::format("[stopping] target_accuracy is about accuracy, but the data set "
                                             "\"{}\" is a regression",
                                             experiment.data.name),
                        .remedy = "leave it out; patience looks at the validation loss"});
}

// Clients' numbers would be missing without a word.
void check_client_tests(const Partition& client_tests, const std::vector<std::int64_t>& held_out) {
  // Whether some clients are tested of those that train, and of those that are held out.
  bool train = false, validate = held_out.empty();
  for (std::int64_t client = 0; client < std::ssize(client_tests); ++client) {
    if (client_tests[static_cast<std::size_t>(client)].empty()) continue;
    (std::ranges::binary_search(held_out, client) ? validate : train) = true;
  }
  if (train && !validate) {
    throw Error(Complaint{
        .found = "[evaluation] held_out_clients: none of them has test examples of its own to validate on",
        .remedy = "Hold out more clients, or use another seed"});
  }
  if (train) return;
  throw Error(Complaint{
      .found = "[evaluation] per_client = true, but no client has test examples of its own: the users of the "
               "test part "
               "hold no training examples",
      .remedy =
          "Leave per_client out, or split each user's examples into training and test (LEAF: -t sample)"});
}

// How many of the proxy's inputs are among the training or validation examples.
std::int64_t count_known_proxies(const torch::Tensor& proxy, const Dataset& data) {
  const std::int64_t trained = count_known(proxy, data.train.inputs);
  return data.validation.size() == 0 ? trained : trained + count_known(proxy, data.validation.inputs);
}

// What a partition may look at of examples, which must outlive it. `classes`: 0 for regression.
PartitionInput partition_input(const Examples& examples, std::int64_t classes) {
  PartitionInput input{
      .labels = {}, .examples = examples.size(), .classes = classes, .users = examples.users};
  if (classes > 0) {
    input.labels = {examples.targets.data_ptr<std::int64_t>(), static_cast<std::size_t>(examples.size())};
  }
  return input;
}

}  // namespace

template <typename T, typename Make>
T& SharedInputs::made(std::map<std::string, T>& cache, const std::string& key, const Make& make) {
  const std::lock_guard lock(mutex_);
  const auto known = cache.find(key);
  return known != cache.end() ? known->second : cache.emplace(key, make()).first->second;
}

const Dataset& SharedInputs::dataset(const Experiment& experiment) {
  const Dataset& dataset = made(datasets_, data_key(experiment), [&] {
    Dataset loaded = load_data(experiment);
    if (std::optional<HostMemory> memory = hands_on_ ? hold(loaded) : std::nullopt) {
      loaded = dataset_in(*memory);
      host_memories_.insert_or_assign(data_key(experiment), std::move(*memory));
      give_freed_memory_back();
    }
    return loaded;
  });
  if (dataset.classes == 0) check_regression(experiment);
  return dataset;
}

const std::string& SharedInputs::data_hash(const Experiment& experiment) {
  return made(data_hashes_, stored_key(experiment),
              [&] { return fedarena::data_hash(dataset(experiment), stored_proxy(experiment)); });
}

torch::Tensor SharedInputs::stored_proxy(const Experiment& experiment) {
  if (!has_proxy(experiment)) return {};
  const Dataset& data = dataset(experiment);
  return made(stored_proxies_, stored_key(experiment), [&] { return load_proxy(experiment, data); });
}

double SharedInputs::known_proxies(const Experiment& experiment) {
  if (!has_proxy(experiment)) return 0;
  return made(known_proxies_, stored_key(experiment), [&] {
    const Dataset& data = dataset(experiment);
    const torch::Tensor proxy = stored_proxy(experiment);
    const std::int64_t count = std::max(count_known_proxies(proxy, data), count_known_unscaled(experiment));
    return static_cast<double>(count) / static_cast<double>(proxy.size(0));
  });
}

torch::Tensor SharedInputs::proxy(const Experiment& experiment) {
  if (!has_proxy(experiment)) return {};
  return made(proxies_, inputs_key(experiment), [&] {
    const torch::Tensor stored = stored_proxy(experiment);
    const std::int64_t count = stored.size(0);
    const Examples examples{.inputs = stored, .targets = torch::zeros({count}, torch::kInt64)};
    const ExampleReader reader(dataset(experiment), tensor_options(experiment));
    torch::Tensor inputs = reader.read(examples, torch::arange(count, torch::kInt64)).inputs;
    const bool on_host = hands_on_ && inputs.is_cpu();
    if (std::optional<HostMemory> memory = on_host ? HostMemory::hold({}, {inputs}) : std::nullopt) {
      inputs = memory->tensors().front();
      host_memories_.insert_or_assign(inputs_key(experiment), std::move(*memory));
      give_freed_memory_back();
    }
    return inputs;
  });
}

const Model& SharedInputs::model(const Experiment& experiment) {
  const Dataset& data = dataset(experiment);
  return *made(models_, model_key(experiment), [&] {
    return std::make_unique<const Model>(
        build_model(experiment.model.name, without_weights(experiment.model.settings), model_input(data)),
        tensor_options(experiment));
  });
}

const Params* SharedInputs::initial_weights(const Experiment& experiment) {
  if (!has_weights(experiment.model)) return nullptr;
  return &made(initial_weights_, model_key(experiment),
               [&] { return read_weights(experiment.model, model(experiment)); });
}

std::shared_ptr<const PartitionedData> SharedInputs::dealt(const Experiment& experiment, std::int64_t seed) {
  const std::lock_guard lock(mutex_);
  const Dataset& data = dataset(experiment);
  const Choice& how = experiment.partition;
  auto& kept = dealt_[fmt::format("{}\n{}\n{}\n{}\n{}", data_key(experiment), choice_text(how), seed,
                                  experiment.evaluation.per_client, experiment.evaluation.held_out_clients)];
  std::shared_ptr<const PartitionedData> dealt = kept.lock();
  if (dealt != nullptr) return dealt;
  const PartitionInput input = partition_input(data.train, data.classes);
  const auto stream = static_cast<std::uint64_t>(seed);
  Partition partition = make_partition(how.name, how.settings, input, stream);
  check_feature_skew(feature_skew(how.name, how.settings), model_input(data).shape,
                     static_cast<std::int64_t>(partition.size()));
  PartitionCard card = partition_card(how.name, how.settings, stream, partition, input);
  const PartitionInput test = partition_input(data.test, data.classes);
  const bool of_clients = how.name == "by-user" && tests_are_of_clients(partition, input, test);
  Partition client_tests;
  bool tell_counts = false;
  if (experiment.evaluation.per_client) {
    client_tests = deal_test_examples(partition, input, test, stream);
    tell_counts = tests_tell_label_counts(partition, input, test);
    check_client_tests(client_tests, held_out_clients(experiment, seed, std::ssize(partition)));
  }
  dealt = std::make_shared<const PartitionedData>(PartitionedData{
      std::move(partition), std::move(card), std::move(client_tests), tell_counts, of_clients});
  kept = dealt;
  recent_.push_back(dealt);
  if (recent_.size() > kRecent) recent_.pop_front();
  return dealt;
}

std::int64_t SharedInputs::data_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, dataset] : datasets_) {
    for (const Examples* part : {&dataset.train, &dataset.test, &dataset.validation})
      bytes += bytes_of(*part);
  }
  for (const auto* proxies : {&stored_proxies_, &proxies_}) {
    for (const auto& [key, inputs] : *proxies) bytes += bytes_of({inputs, {}});
  }
  return bytes;
}

std::string SharedInputs::address_of(const std::string& key) const {
  const auto memory = host_memories_.find(key);
  return memory == host_memories_.end() ? "" : memory->second.address();
}

void SharedInputs::hand_on() {
  const std::lock_guard lock(mutex_);
  hands_on_ = true;
}

Bytes SharedInputs::for_host(const Experiment& experiment) {
  const std::lock_guard lock(mutex_);
  if (!hands_on_) return {};
  dataset(experiment);
  proxy(experiment);
  return packed(address_of(data_key(experiment)), address_of(inputs_key(experiment)), data_hash(experiment));
}

bool SharedInputs::find(const std::string& key, const std::string& address,
                        const std::function<void(const HostMemory&)>& use) {
  if (!address.empty() && address_of(key) == address) return true;
  std::optional<HostMemory> memory = HostMemory::find(address);
  if (!memory) return false;
  use(*memory);
  host_memories_.insert_or_assign(key, std::move(*memory));
  return true;
}

void SharedInputs::take(const Experiment& experiment, std::span<const std::byte> from_host) {
  if (from_host.empty()) return;
  const std::lock_guard lock(mutex_);
  std::string data, proxy, hash;
  Parts{from_host}(data, proxy, hash);
  const bool has_data = find(data_key(experiment), data, [&](const HostMemory& memory) {
    datasets_.insert_or_assign(data_key(experiment), dataset_in(memory));
  });
  const bool has_all = has_data && (!has_proxy(experiment) ||
                                    find(inputs_key(experiment), proxy, [&](const HostMemory& memory) {
                                      proxies_[inputs_key(experiment)] = memory.tensors().front();
                                    }));
  // What was hashed over there is what is read here.
  if (has_all) data_hashes_[stored_key(experiment)] = hash;
}

std::vector<std::int64_t> held_out_clients(const Experiment& experiment, std::int64_t seed,
                                           std::int64_t clients) {
  return choose_held_out(static_cast<std::uint64_t>(seed), clients, experiment.held_out_clients(clients));
}

results::RecordedPartition recorded_partition(const Experiment& experiment, std::int64_t seed,
                                              const PartitionCard& card) {
  const PartitionStatistics& statistics = card.statistics;
  results::RecordedPartition record{
      .id = card.id,
      .kind = card.kind,
      .dataset = describe_data(experiment),
      .seed = seed,
      .index_hash = statistics.index_hash,
      .sizes = statistics.sizes,
      .label_entropy = statistics.label_entropy,
      .class_counts = statistics.class_counts,
      .held_out = held_out_clients(experiment, seed, std::ssize(statistics.sizes))};
  const FeatureSkew skew = feature_skew(experiment.partition.name, experiment.partition.settings);
  const auto clients = std::ssize(statistics.sizes);
  for (std::int64_t client = 0; skew.any() && client < clients; ++client) {
    const ClientFeatures features = skew.of(client, clients);
    record.noise.push_back(features.noise);
    record.rotations.push_back(features.degrees);
  }
  return record;
}

}  // namespace fedarena
