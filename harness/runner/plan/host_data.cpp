#include "harness/runner/plan/host_data.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "harness/wire/parts.hpp"

namespace fedarena {
namespace {

constexpr std::array kParts = {&Dataset::train, &Dataset::test, &Dataset::validation};
constexpr std::array kTexts = {&Dataset::name, &Dataset::note, &Dataset::fitted, &Dataset::taken};
constexpr std::array kScales = {&Dataset::mean, &Dataset::deviation, &Dataset::column_scales};

template <typename Number>
void put_numbers(Bytes& bytes, const std::vector<Number>& numbers) {
  put_part(bytes, std::as_bytes(std::span(numbers)));
}

template <typename Number>
std::vector<Number> take_numbers(Parts& parts) {
  const std::span<const std::byte> bytes = parts.part();
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace

std::optional<HostMemory> hold(const Dataset& dataset) {
  // Does not compile when a data set gets a part that is not written below.
  [[maybe_unused]] const auto& [name, train, test, validation, classes, users, mean, deviation, fitted,
                                column_scales, note, taken] = dataset;
  Bytes head;
  std::vector<torch::Tensor> tensors;
  for (const auto text : kTexts) put_text(head, dataset.*text);
  put_number(head, static_cast<std::uint64_t>(classes));
  put_number(head, users.size());
  for (const std::string& user : users) put_text(head, user);
  for (const auto scale : kScales) put_numbers(head, dataset.*scale);
  for (const auto part : kParts) {
    const auto& [inputs, targets, users_of_examples] = dataset.*part;
    put_numbers(head, users_of_examples);
    tensors.push_back(inputs);
    tensors.push_back(targets);
  }
  return HostMemory::hold(head, tensors);
}

Dataset dataset_in(const HostMemory& memory) {
  Dataset dataset;
  Parts head(memory.note(), "data set of this host");
  auto tensor = memory.tensors().begin();
  for (const auto text : kTexts) dataset.*text = head.text();
  dataset.classes = head.integer();
  dataset.users.resize(head.number());
  for (std::string& user : dataset.users) user = head.text();
  for (const auto scale : kScales) dataset.*scale = take_numbers<double>(head);
  for (const auto part : kParts) {
    Examples& examples = dataset.*part;
    examples.users = take_numbers<std::int64_t>(head);
    examples.inputs = *tensor++;
    examples.targets = *tensor++;
  }
  head.finish();
  return dataset;
}

}  // namespace fedarena
