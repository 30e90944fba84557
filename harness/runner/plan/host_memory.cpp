// A file in memory (memfd_create) that has no name, so that nothing is left of it when the last process ends,
// however it ends. Other processes open it by the descriptor that its holder has in /proc. Before anybody
// maps it, it is sealed: its content and size stay for good.
#include "harness/runner/plan/host_memory.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

namespace fedarena {
namespace {

constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr std::size_t kTokenSize = 32, kAlignment = 64;
// The token, the size of the head, the head.
constexpr std::size_t kHeadBegin = kTokenSize + sizeof(std::uint64_t);

std::size_t aligned(std::size_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

// Tells the memory from whatever has that address on another host, or later. Empty where the system gives
// none.
std::string random_token() {
  std::array<std::uint8_t, kTokenSize / 2> bits{};
  if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) return {};
  return fmt::format("{:02x}", fmt::join(bits, ""));
}

std::span<const std::byte> content_of(const torch::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

Bytes make_head(std::span<const std::byte> note, const std::vector<torch::Tensor>& tensors) {
  Bytes head = packed(note, tensors.size());
  for (const torch::Tensor& tensor : tensors) {
    put(head, tensor.defined());
    if (tensor.defined()) put(head, tensor.scalar_type(), tensor.sizes().vec());
  }
  return head;
}

// Packs all of a data set but its tensors, or takes it off again. A part that is not written here does not
// compile.
void for_fields(auto& dataset, auto&& each) {
  auto& [name, train, test, validation, classes, users, mean, deviation, read_off, column_scales, note, taken,
         taken_without_labels, overlap] = dataset;
  each(name, classes, users, mean, deviation, read_off, column_scales, note, taken, taken_without_labels,
       overlap);
  for (auto* part : {&train, &test, &validation}) {
    auto& [inputs, targets, users_of_examples, positions] = *part;
    each(users_of_examples, positions);
  }
}

constexpr std::array kParts = {&Dataset::train, &Dataset::test, &Dataset::validation};

}  // namespace

class HostMemory::Mapping {
 public:
  // Private, so that a write into a tensor, which nobody should make, stays here and ends no program. Pages
  // are not asked for in advance, which would copy them all.
  Mapping(int descriptor, std::size_t size)
      : address_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0)),
        size_(size) {}
  ~Mapping() {
    if (valid()) ::munmap(address_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool valid() const { return address_ != MAP_FAILED; }
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(address_) + offset; }

 private:
  void* address_;
  std::size_t size_;
};

std::optional<HostMemory> HostMemory::hold(std::span<const std::byte> note,
                                           const std::vector<torch::Tensor>& tensors) {
  const auto file =
      std::make_shared<const Descriptor>(::memfd_create("fedarena-data", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int descriptor = file->number();
  const std::string token = random_token();
  if (descriptor < 0 || token.empty()) return std::nullopt;
  const Bytes head = make_head(note, tensors);
  Bytes begin;
  for (const char letter : token) begin.push_back(static_cast<std::byte>(letter));
  put(begin, head);
  std::size_t end = begin.size();
  if (write_all(descriptor, begin, 0) != 0) return std::nullopt;
  for (const torch::Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    const torch::Tensor values = tensor.contiguous();
    end = aligned(end);
    if (write_all(descriptor, content_of(values), end) != 0) return std::nullopt;
    end += values.nbytes();
  }
  if (::ftruncate(descriptor, static_cast<off_t>(end)) != 0 ||  // the last tensor may be empty
      ::fcntl(descriptor, F_ADD_SEALS, kSeals) != 0)
    return std::nullopt;
  std::optional<HostMemory> memory =
      map(descriptor, end, fmt::format("{}/proc/{}/fd/{}", token, ::getpid(), descriptor));
  if (memory) memory->file_ = file;
  return memory;
}

std::optional<HostMemory> HostMemory::find(const std::string& address) {
  if (address.size() <= kTokenSize) return std::nullopt;
  try {
    const RegularFile file(address.substr(kTokenSize));
    return map(file.descriptor(), file.size(), address);
  } catch (const Error&) {  // no such process, or one that is none of ours
    return std::nullopt;
  }
}

std::optional<HostMemory> HostMemory::map(int descriptor, std::size_t size, const std::string& address) {
  // Without seals it is another file. With them no page of it can go away while it is mapped.
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (size < kHeadBegin || seals < 0 || (seals & kSeals) != kSeals) return std::nullopt;
  const auto mapping = std::make_shared<const Mapping>(descriptor, size);
  if (!mapping->valid() || std::memcmp(mapping->at(0), address.data(), kTokenSize) != 0) return std::nullopt;
  HostMemory memory(address);
  Parts begin({mapping->at(kTokenSize), size - kTokenSize}, "memory of this host");
  const std::span<const std::byte> whole_head = begin.part();
  Parts head(whole_head, "memory of this host");
  head(memory.note_);
  memory.tensors_.resize(head.next<std::size_t>());
  std::size_t end = kHeadBegin + whole_head.size();
  for (torch::Tensor& tensor : memory.tensors_) {
    if (!head.next<bool>()) continue;
    const auto type = head.next<c10::ScalarType>();
    const auto sizes = head.next<std::vector<std::int64_t>>();
    end = aligned(end);
    tensor = torch::from_blob(
        mapping->at(end), sizes, [mapping](void*) {}, type);
    end += tensor.nbytes();
  }
  FEDARENA_CHECK(end, ==, size);
  return memory;
}

std::optional<HostMemory> hold(const Dataset& dataset) {
  Bytes head;
  for_fields(dataset, [&](const auto&... all) { put(head, all...); });
  std::vector<torch::Tensor> tensors;
  for (const auto part : kParts) {
    tensors.push_back((dataset.*part).inputs);
    tensors.push_back((dataset.*part).targets);
  }
  return HostMemory::hold(head, tensors);
}

Dataset dataset_in(const HostMemory& memory) {
  Dataset dataset;
  Parts head(memory.note(), "data set of this host");
  for_fields(dataset, head);
  head.finish();
  auto tensor = memory.tensors().begin();
  for (const auto part : kParts) {
    (dataset.*part).inputs = *tensor++;
    (dataset.*part).targets = *tensor++;
  }
  return dataset;
}

}  // namespace fedarena
