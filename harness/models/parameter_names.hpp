#pragma once

#include <string>
#include <vector>

#include "fedarena/layers.hpp"

namespace fedarena {

/// A name for each tensor of the model's parameters, in their order: its layer's place in the list and
/// "weight" or "bias", as in the state_dict of a torch.nn.Sequential of these layers: "0.weight", "0.bias",
/// "3.weight". Several tensors of a layer that is any function are "4.0", "4.1".
std::vector<std::string> parameter_names(const Architecture& architecture);

}  // namespace fedarena
