#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

namespace fedarena {

/// Where a data set comes from.
enum class DatasetOrigin {
  kFiles,  ///< published files below a folder for data
  kOwn,    ///< what the user brings under a path
  kDrawn,  ///< the program draws it
};

/// Labelled examples, in the order of the publisher.
struct Examples {
  /// Images: uint8 [n, channels, height, width], 0 to 255. Anything else: floating [n, features].
  torch::Tensor inputs;
  /// Classification: int64 [n], each in [0, classes). Regression: floating [n, outputs].
  torch::Tensor targets;
  /// Whose each example is: one an example, each a position in `Dataset::users`; empty where nobody knows.
  std::vector<std::int64_t> users = {};
  /// Where each example was before some were drawn for testing or validation, ascending: a position in the
  /// publisher's part, or among the rows that were taken from the user's file. Empty: where it is now.
  std::vector<std::int64_t> positions = {};

  /// How many examples there are; 0 before anything was loaded.
  std::int64_t size() const { return inputs.defined() ? inputs.size(0) : 0; }
};

/// A data set as its publisher split it. The tensors live on the CPU and are contiguous.
struct Dataset {
  std::string name;  ///< the name under which the registry knows it
  Examples train;
  Examples test;
  /// Held out of the publisher's training examples by request (hold_out.hpp); may be empty.
  Examples validation = {};
  std::int64_t classes = 0;             ///< 0: regression
  std::vector<std::string> users = {};  ///< names of the people that the examples come from; may be empty
  /// Per channel, of the training inputs scaled to [0, 1], for (input / 255 - mean) / deviation; both empty:
  /// inputs are used as they are.
  std::vector<double> mean, deviation;
  /// What every epsilon takes as public because models or inputs are made of it and it was read off the
  /// examples, such as "the classes" and "means and deviations of the features". Empty where it is the same
  /// for any examples.
  std::vector<std::string> read_off = {};
  /// Mean and deviation of every column that was scaled by them before it became an input or a target: what
  /// the values no longer tell of it.
  std::vector<double> column_scales = {};
  /// One sentence that a table of results should carry, such as that the data is synthetic; may be empty.
  std::string note;
  /// Of the user's own files: what was taken from them and what was not, in lines for a terminal; else empty.
  std::string taken = {};
  /// The same without what labels and targets of the examples tell, which may be private.
  std::string taken_without_labels = {};
  /// How many test examples have the inputs of a training example, as one more line behind `taken`, or
  /// nothing where none has: it tells which examples are in, which may be private although their labels are
  /// not.
  std::string overlap = {};
};

}  // namespace fedarena
