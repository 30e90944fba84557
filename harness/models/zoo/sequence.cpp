// A model of the user's own, written down in the experiment file layer by layer.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include "fedarena/base/nearest.hpp"
#include "fedarena/base/text.hpp"

#include "harness/models/zoo.hpp"

namespace fedarena {
namespace {

struct SequenceConfig {
  std::string layers = "conv 32 3 1, relu, max-pool 2, flatten, linear 64, relu";

  static Schema<SequenceConfig> schema() {
    return {{"layers", &SequenceConfig::layers,
             "the layers in their order, with commas or new lines between: conv CHANNELS KERNEL [PADDING "
             "[STRIDE]], "
             "group-norm GROUPS, relu, average-pool SIZE, max-pool SIZE, flatten, linear UNITS, and fork, "
             "shortcut, join around residual blocks; an affine map to the outputs follows"}};
  }
};

struct Kind {
  std::string_view name, form;
  std::size_t least_numbers, most_numbers;
};
constexpr std::array<Kind, 10> kKinds = {{{"conv", "conv CHANNELS KERNEL [PADDING [STRIDE]]", 2, 4},
                                          {"group-norm", "group-norm GROUPS", 1, 1},
                                          {"relu", "relu", 0, 0},
                                          {"average-pool", "average-pool SIZE", 1, 1},
                                          {"max-pool", "max-pool SIZE", 1, 1},
                                          {"flatten", "flatten", 0, 0},
                                          {"linear", "linear UNITS", 1, 1},
                                          {"fork", "fork", 0, 0},
                                          {"shortcut", "shortcut", 0, 0},
                                          {"join", "join", 0, 0}}};

// Parts of the text between any of those letters, without empty ones.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (const std::string_view part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Follows the shape of one example through the layers as they are read.
class Reader {
 public:
  explicit Reader(const ModelInput& input) : shape_(input.shape) {
    model_ = {.input_shape = input.shape, .outputs = input.outputs, .layers = {}};
    if (input.regression) model_.loss = Loss::kSquaredError;
  }

  Architecture read(std::string_view text) {
    for (const std::string_view part : parts_of(text, ",\n\r")) {
      part_ = part;
      ++number_;
      read_part();
    }
    part_ = "the end";
    if (!aside_.empty()) reject("comes before the join of a fork", "as many joins as forks");
    if (shape_.size() > 1) flatten();
    linear(model_.outputs);
    check_size();
    return std::move(model_);
  }

 private:
  [[noreturn]] void reject(const std::string& what, const std::string& allowed,
                           const std::string& remedy = {}) const {
    throw Error(Complaint{.found = fmt::format("layer {}, {}, {}", number_, quoted(part_), what),
                          .allowed = allowed,
                          .remedy = remedy});
  }

  void read_part() {
    constexpr std::int64_t kMostLayers = 1000;
    if (number_ > kMostLayers) reject("is one too many", fmt::format("at most {} layers", kMostLayers));
    const std::vector<std::string_view> words = parts_of(part_, " \t");
    const Kind* kind = find_named(kKinds, words.front(), &Kind::name);
    if (kind == nullptr)
      throw unknown_name(fmt::format("layer {}, {}, is not a kind of layer", number_, quoted(part_)),
                         words.front(), names_of(kKinds, &Kind::name));
    std::vector<std::int64_t> numbers;
    for (const std::string_view word : std::span(words).subspan(1)) numbers.push_back(number_in(word));
    if (numbers.size() < kind->least_numbers || numbers.size() > kind->most_numbers)
      reject(fmt::format("has {}", counted(numbers.size(), "number")), std::string(kind->form));
    add(*kind, numbers);
    check_size();
  }

  std::int64_t number_in(std::string_view word) const {
    constexpr std::int64_t kMost = 100'000;
    const std::optional<std::int64_t> number = parse_number<std::int64_t>(word);
    if (!number || *number < 0 || *number > kMost)
      reject(fmt::format("has {} for a number", quoted(word)),
             fmt::format("whole numbers from 1 to {}, paddings also 0", kMost));
    return *number;
  }

  void add(const Kind& kind, const std::vector<std::int64_t>& numbers) {
    const bool padded = kind.name == "conv" && numbers.size() > 2;
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      if (numbers[index] == 0 && !(padded && index == 2)) reject("has 0 for a number", "at least 1");
    }
    if (kind.name == "conv") return convolution(numbers);
    if (kind.name == "group-norm") return group_norm(numbers[0]);
    if (kind.name == "relu") return push(Relu{});
    if (kind.name == "average-pool") return pool(AveragePool{numbers[0]}, numbers[0]);
    if (kind.name == "max-pool") return pool(MaxPool{numbers[0]}, numbers[0]);
    if (kind.name == "flatten") return flatten();
    if (kind.name == "linear") return linear(numbers[0]);
    if (kind.name == "fork") return fork();
    return shortcut_or_join(kind.name == "join");
  }

  void push(const Layer& layer) { model_.layers.push_back(layer); }

  void require_maps() const {
    if (shape_.size() != 3) reject(fmt::format("gets {}", shape_text(shape_)), "channels of maps");
  }

  void convolution(const std::vector<std::int64_t>& numbers) {
    require_maps();
    const Conv2d conv{shape_[0], numbers[0], numbers[1], numbers.size() > 2 ? numbers[2] : 0,
                      numbers.size() > 3 ? numbers[3] : 1};
    if (conv.padding >= conv.kernel) reject("pads by its kernel or more", "a padding below the kernel");
    const std::int64_t smaller = std::min(shape_[1], shape_[2]);
    if (smaller + 2 * conv.padding < conv.kernel)
      reject(fmt::format("leaves nothing of {}", shape_text(shape_)), "a smaller kernel, or a padding");
    push(conv);
    parameters_ += static_cast<double>(conv.in * conv.kernel * conv.kernel) * static_cast<double>(conv.out);
    shape_ = {conv.out, conv.side(shape_[1]), conv.side(shape_[2])};
  }

  void group_norm(std::int64_t groups) {
    if (shape_[0] % groups != 0)
      reject(fmt::format("does not divide {}", shape_text(shape_)),
             fmt::format("groups that divide {}", shape_[0]));
    push(GroupNorm{groups, shape_[0]});
  }

  void pool(const Layer& layer, std::int64_t size) {
    require_maps();
    if (size > std::min(shape_[1], shape_[2]))
      reject(fmt::format("leaves nothing of {}", shape_text(shape_)), "a smaller window");
    push(layer);
    shape_ = {shape_[0], shape_[1] / size, shape_[2] / size};
  }

  void flatten() {
    push(Flatten{});
    shape_ = {c10::multiply_integers(shape_)};
  }

  void linear(std::int64_t units) {
    if (shape_.size() != 1)
      reject(fmt::format("gets {}", shape_text(shape_)), "features", "put flatten before it");
    push(Linear{shape_[0], units});
    parameters_ += static_cast<double>(shape_[0]) * static_cast<double>(units);
    shape_ = {units};
  }

  void fork() {
    push(Fork{});
    aside_.push_back(shape_);
  }

  void shortcut_or_join(bool join) {
    if (aside_.empty()) reject("has no fork before it", "fork, layers, and then it");
    if (!join) {
      push(Shortcut{});
      return std::swap(shape_, aside_.back());
    }
    if (shape_ != aside_.back())
      reject(fmt::format("adds {} to {}", shape_text(shape_), shape_text(aside_.back())),
             "two summands of one shape",
             "put shortcut before it, and layers after that which make the one of the other");
    push(Join{});
    aside_.pop_back();
  }

  // Before anything multiplies such numbers.
  void check_size() {
    constexpr double kMost = 1e10;
    numbers_ += static_cast<double>(c10::multiply_integers(shape_));
    if (parameters_ + numbers_ > kMost)
      reject("makes the model one of more than 10^10 numbers", "fewer channels or units");
  }

  static std::string shape_text(const std::vector<std::int64_t>& shape) {
    if (shape.size() != 3) return counted(shape[0], "feature");
    return fmt::format("{} of {}x{}", counted(shape[0], "channel"), shape[1], shape[2]);
  }

  Architecture model_;
  std::vector<std::int64_t> shape_;
  std::vector<std::vector<std::int64_t>> aside_;  // of the other summand of each fork
  std::string_view part_;
  std::int64_t number_ = 0;
  double parameters_ = 0, numbers_ = 0;  // and what a forward pass writes
};

}  // namespace

ModelInfo sequence_model() {
  return {"sequence",
          "layers as the setting `layers` lists them, then an affine map to the outputs; half the squared "
          "error on regression data",
          SequenceConfig::schema().fields(), [](const Settings& settings, const ModelInput& input) {
            return Reader(input).read(SequenceConfig::schema().read(settings).layers);
          }};
}

}  // namespace fedarena
