#pragma once

#include <string>
#include <vector>

#include "fedarena/model.hpp"

#include "harness/config/grid/grid.hpp"
#include "results/images/npy_file.hpp"

namespace fedarena {

/// What [model] has beside the settings of a model: where its weights begin.
std::vector<Field> weights_fields();
/// Error where the SHA-256 among these settings is none, or that of no weights.
void check_weights_settings(const Settings& model);
/// The settings of the model itself.
Settings without_weights(Settings model);

/// Whether a model begins from weights in a file.
bool has_weights(const Choice& model);
/// The SHA-256 of their content: that of the settings, or empty; and of the file, as it is now. The latter
/// throws Error where it is not there, or no .npz file.
std::string recorded_weights_hash(const Choice& model);
std::string weights_hash(const Choice& model);
/// Writes it into the settings of a file's experiments that lack it, so that records have it.
void pin_weights(FilePlan& plan);
/// Those weights. Throws Error where they are not those of the settings' SHA-256, or do not fit the model.
Params read_weights(const Choice& choice, const Model& model);

/// The tensors of a model's parameters by their names (parameter_names).
results::NamedArrays named_arrays(const Params& params, const Model& model);

}  // namespace fedarena
