#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "fedarena/base/descriptor.hpp"

#include "datasets/dataset.hpp"
#include "harness/wire/parts.hpp"

namespace fedarena {

/// Tensors that the processes of a host hold once: one of them writes them to memory, for good, and tells the
/// others its address. All that are open see the same pages; who writes into a tensor gets pages of its own.
class HostMemory {
 public:
  /// Copies tensors (on the CPU, or undefined) and a note to new memory. nullopt where the system has none.
  static std::optional<HostMemory> hold(std::span<const std::byte> note,
                                        const std::vector<torch::Tensor>& tensors);
  /// The memory of that address. nullopt where this process cannot open it, because whoever holds it runs on
  /// another host, in another container or for another user, or is gone.
  static std::optional<HostMemory> find(const std::string& address);

  /// By which other processes find it for as long as what hold() returned lives.
  const std::string& address() const { return address_; }
  const Bytes& note() const { return note_; }
  /// In their order, contiguous. They may outlive this object.
  const std::vector<torch::Tensor>& tensors() const { return tensors_; }

 private:
  class Mapping;

  explicit HostMemory(std::string address) : address_(std::move(address)) {}
  static std::optional<HostMemory> map(int descriptor, std::size_t size, const std::string& address);

  std::string address_;
  std::shared_ptr<const Descriptor> file_;  // of who holds it
  Bytes note_;
  std::vector<torch::Tensor> tensors_;
};

/// Copies a data set to memory of the host. nullopt where the system has none.
std::optional<HostMemory> hold(const Dataset& dataset);

/// The data set in that memory, equal to the one that hold() was given. Its inputs and targets lie there.
Dataset dataset_in(const HostMemory& memory);

}  // namespace fedarena
