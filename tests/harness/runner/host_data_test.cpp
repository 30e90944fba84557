// Data that the processes of a host hold once.
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/torch.h>

#include "datasets/data_hash.hpp"
#include "harness/runner/plan/host_memory.hpp"
#include "harness/runner/plan/shared_inputs.hpp"
#include "tests/matchers.hpp"
#include "tests/scratch.hpp"

namespace fedarena {
namespace {

// The device and inode of the file that a tensor lies in, as /proc tells; empty where it lies in none.
std::string file_under(const torch::Tensor& tensor) {
  const auto place = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string access, offset, device, inode;
    fields >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode;
    if (begin <= place && place < end) return inode == "0" ? "" : device + " " + inode;
  }
  return "";
}

// The file of an address, without the token.
std::string path_in(const std::string& address) { return address.substr(address.find('/')); }

HostMemory hold_numbers(float first) {
  std::optional<HostMemory> memory = HostMemory::hold({}, {torch::arange(5000, torch::kFloat32) + first});
  if (!memory) throw std::runtime_error("no memory to share here");
  return std::move(*memory);
}

TEST(HostMemory, IsTheSamePagesForAllWhoFindIt) {
  const std::vector<torch::Tensor> tensors{
      torch::arange(3000, torch::kUInt8).reshape({10, 3, 10, 10}), torch::arange(7, torch::kInt64),
      torch::Tensor(), torch::arange(12, torch::kFloat64).reshape({3, 4}).t(), torch::empty({0, 3})};
  const Bytes note{std::byte{1}, std::byte{2}};
  const auto held = HostMemory::hold(note, tensors);
  ASSERT_TRUE(held);
  const auto found = HostMemory::find(held->address());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->note(), note);
  ASSERT_EQ(found->tensors().size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const torch::Tensor &there = held->tensors()[i], &here = found->tensors()[i];
    ASSERT_EQ(here.defined(), tensors[i].defined());
    if (!here.defined()) continue;
    EXPECT_EQ(here.scalar_type(), tensors[i].scalar_type());
    EXPECT_TRUE(torch::equal(here, tensors[i]));
    EXPECT_TRUE(torch::equal(there, tensors[i]));
    if (here.numel() == 0) continue;
    EXPECT_NE(here.data_ptr(), there.data_ptr());
    EXPECT_EQ(file_under(here), file_under(there));
    EXPECT_NE(file_under(here), "");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(here.data_ptr()) % 64, 0U);  // as LibTorch's own
  }
}

TEST(HostMemory, ShowsWhatOneWritesToNobodyElse) {
  const HostMemory held = hold_numbers(0);
  const auto writer = HostMemory::find(held.address()), reader = HostMemory::find(held.address());
  ASSERT_TRUE(writer && reader);
  torch::Tensor changed = writer->tensors().front();
  changed.add_(1);
  EXPECT_EQ(changed[4999].item<float>(), 5000);
  for (const HostMemory* other : {&held, &*reader})
    EXPECT_TRUE(torch::equal(other->tensors().front(), torch::arange(5000, torch::kFloat32)));
}

TEST(HostMemory, LetsNobodyWriteToItOrCutIt) {
  const HostMemory held = hold_numbers(0);
  const int file = ::open(path_in(held.address()).c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  EXPECT_EQ(::pwrite(file, "x", 1, 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(file, 0), -1);
  EXPECT_EQ(errno, EPERM);
  ::close(file);
}

TEST(HostMemory, StaysWithItsTensorsAndEndsForOthersWithItsHolder) {
  std::optional<HostMemory> held = hold_numbers(0);
  const std::string address = held->address();
  std::optional<HostMemory> found = HostMemory::find(address);
  ASSERT_TRUE(found);
  const torch::Tensor tensor = found->tensors().front();
  held.reset();
  found.reset();
  EXPECT_FALSE(HostMemory::find(address));
  EXPECT_TRUE(torch::equal(tensor, torch::arange(5000, torch::kFloat32)));
}

// As after a process of the same number, and on other hosts.
TEST(HostMemory, IsNotTakenForWhateverElseHasItsAddress) {
  std::optional<HostMemory> held = hold_numbers(0);
  const std::string address = held->address();
  held.reset();
  const HostMemory next = hold_numbers(1);
  ASSERT_EQ(path_in(next.address()), path_in(address));
  EXPECT_FALSE(HostMemory::find(address));

  const std::string token = address.substr(0, address.find('/'));
  const test::Scratch scratch;
  const std::string file = scratch.write("copy", test::content_of(path_in(next.address()))).string();
  const std::string next_token = next.address().substr(0, token.size());
  for (const std::string& other :
       {next_token + file, next_token + scratch.path().string(), next_token + "/proc/self/fd/99999",
        next_token + "/proc/999999999/fd/3", next_token, token, std::string()})
    EXPECT_FALSE(HostMemory::find(other)) << other;
}

Dataset whole_dataset() {
  Dataset data;
  data.name = "four";
  data.train = {.inputs = torch::arange(16, torch::kUInt8).reshape({4, 1, 2, 2}),
                .targets = torch::arange(4, torch::kInt64),
                .users = {0, 0, 1, 1}};
  data.test = {.inputs = torch::ones({2, 1, 2, 2}, torch::kUInt8),
               .targets = torch::zeros({2}, torch::kInt64)};
  data.classes = 4;
  data.users = {"ann", "bob"};
  data.mean = {0.25};
  data.deviation = {0.5};
  data.read_off = {"the classes", "means of the features"};
  data.column_scales = {1.5, 1e300};
  data.note = "made up";
  data.taken = "two columns, 3 of one class\n";
  data.taken_without_labels = "two columns\n";
  data.overlap = "1 of 5 test examples";
  return data;
}

TEST(HostData, GivesBackTheWholeDataSet) {
  Dataset with_validation = whole_dataset();
  with_validation.validation = with_validation.test;
  Dataset regression;
  regression.name = "line";
  regression.train = {.inputs = torch::rand({5, 2}), .targets = torch::rand({5, 1})};
  regression.test = {.inputs = torch::rand({3, 2}), .targets = torch::rand({3, 1})};
  for (const Dataset& data : {whole_dataset(), with_validation, regression}) {
    const auto memory = hold(data);
    ASSERT_TRUE(memory);
    const Dataset same = dataset_in(*memory);
    EXPECT_EQ(data_hash(same), data_hash(data));
    EXPECT_EQ(same.validation.size(), data.validation.size());
    EXPECT_EQ(same.name, data.name);
    EXPECT_EQ(same.note, data.note);
    EXPECT_EQ(same.read_off, data.read_off);
    EXPECT_EQ(same.column_scales, data.column_scales);
    EXPECT_EQ(same.taken, data.taken);
    EXPECT_EQ(same.taken_without_labels, data.taken_without_labels);
    EXPECT_EQ(same.overlap, data.overlap);
    EXPECT_EQ(same.mean, data.mean);
    EXPECT_EQ(same.deviation, data.deviation);
    EXPECT_NE(file_under(same.train.inputs), "");
    EXPECT_EQ(file_under(same.train.inputs), file_under(same.test.targets));
  }
}

// Inputs of rank 0 and of another rank of its host, for an experiment on two files: data and proxy.
class InputsOfAHost : public testing::Test {
 protected:
  InputsOfAHost() {
    std::string rows = "a,b,y\n";
    for (int i = 0; i < 40; ++i) rows += fmt::format("{},{},{}\n", i, i * i % 7, i % 2 == 0 ? "even" : "odd");
    const std::string data = scratch_.write("data.csv", rows).string();
    const std::string proxy = scratch_.write("proxy.csv", rows).string();
    experiment_.data = {"csv", {{"path", data}, {"target", "y"}}};
    experiment_.proxy = {"csv", {{"path", proxy}, {"target", "y"}, {kProxyLimit, std::int64_t{9}}}};
    first_.hand_on();
  }

  const test::Scratch scratch_;
  Experiment experiment_;
  SharedInputs first_, other_;
};

TEST_F(InputsOfAHost, AreReadOnce) {
  const Bytes handed_on = first_.for_host(experiment_);
  for (const char* file : {"data.csv", "proxy.csv"}) std::filesystem::remove(scratch_ / file);
  other_.take(experiment_, handed_on);
  const Dataset &there = first_.dataset(experiment_), &here = other_.dataset(experiment_);
  EXPECT_EQ(other_.data_hash(experiment_), first_.data_hash(experiment_));
  EXPECT_EQ(data_hash(here), data_hash(there));
  EXPECT_TRUE(torch::equal(other_.proxy(experiment_), first_.proxy(experiment_)));
  for (const auto& [left, right] :
       {std::pair(there.train.inputs, here.train.inputs), std::pair(there.test.targets, here.test.targets),
        std::pair(first_.proxy(experiment_), other_.proxy(experiment_))}) {
    EXPECT_EQ(file_under(left), file_under(right));
    EXPECT_NE(file_under(left), "");
  }
}

TEST_F(InputsOfAHost, AreReadByWhoCannotOpenThem) {
  Bytes handed_on;
  {
    SharedInputs gone;
    gone.hand_on();
    handed_on = gone.for_host(experiment_);
  }
  other_.take(experiment_, handed_on);
  EXPECT_EQ(other_.data_hash(experiment_), first_.data_hash(experiment_));
  EXPECT_EQ(file_under(other_.dataset(experiment_).train.inputs), "");
}

// Each stage of a tuned run reads them again.
TEST_F(InputsOfAHost, AreThoseThatWereHandedOnLast) {
  {
    SharedInputs before;
    before.hand_on();
    other_.take(experiment_, before.for_host(experiment_));
  }
  other_.take(experiment_, first_.for_host(experiment_));
  EXPECT_EQ(file_under(other_.dataset(experiment_).train.inputs),
            file_under(first_.dataset(experiment_).train.inputs));
  const Dataset* known = &other_.dataset(experiment_);
  other_.take(experiment_, first_.for_host(experiment_));
  EXPECT_EQ(&other_.dataset(experiment_), known);
}

TEST_F(InputsOfAHost, AreHandedOnByNobodyWhoIsAlone) {
  EXPECT_THAT(other_.for_host(experiment_), IsEmpty());
  EXPECT_EQ(file_under(other_.dataset(experiment_).train.inputs), "");
  other_.take(experiment_, {});
}

}  // namespace
}  // namespace fedarena
