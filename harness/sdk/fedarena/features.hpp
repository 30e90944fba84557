#pragma once

#include <string_view>

#include "fedarena/base/export.hpp"
#include "fedarena/model.hpp"
#include "fedarena/params.hpp"

namespace fedarena {

/// A model cut before its last affine map, whose inputs are the features. Its layout is the beginning of the
/// model's. Error when the model does not end in such a map; `algorithm` is who needs it.
FEDARENA_API Model feature_model(const Model& model, std::string_view algorithm);

/// The weights of a `feature_model` in those of its model; a view of them, not a copy.
FEDARENA_API Params feature_weights(const Model& features, const Params& at);

}  // namespace fedarena
