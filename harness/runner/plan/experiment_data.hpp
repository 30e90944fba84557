#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <torch/types.h>

#include "datasets/dataset.hpp"
#include "harness/config/sections/experiment.hpp"

namespace fedarena {

/// Loads an experiment's data set, with the validation examples that it holds out. Throws Error when it is
/// not there.
Dataset load_data(const Experiment& experiment);

/// What the experiment names of the user's own files and folders, for training and as proxy, as far as they
/// are there.
std::vector<std::filesystem::path> own_files(const Experiment& experiment);

/// Whether the server has public data of its own.
bool has_proxy(const Experiment& experiment);

/// Loads the server's public inputs as they are in files, as many as the experiment asks for. Throws Error
/// when they are not there or do not fit the data set.
torch::Tensor load_proxy(const Experiment& experiment, const Dataset& data);

/// How many of the proxy's inputs are among the training examples, those for validation included, by their
/// columns of numbers as they are in files: each data set scales them by training rows of its own.
std::int64_t count_known_unscaled(const Experiment& experiment);

/// The data set with the settings that are not defaults, what is held out of it, and proxy data: rows of a
/// table that differ in any of it are never averaged. "glyphs", "csv (path = \"a.csv\", validation_fraction =
/// 0.1)", "mnist (proxy = fashion-mnist (limit = 100))".
std::string describe_data(const Experiment& experiment);

/// One sentence for tables on what the data are: the data set's own note, and that there are proxy data.
std::string data_note(const Experiment& experiment, const Dataset& dataset);

/// "classes (clients = 5, classes_per_client = 2)".
std::string choice_text(const Choice& choice);

}  // namespace fedarena
