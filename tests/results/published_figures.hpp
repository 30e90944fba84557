#pragma once

namespace fedarena::test {

/// A file of figures by two sources, with all that one may say.
constexpr const char* kPublishedFigures = R"([[published]]
source = "Doe 2022"
metric = "loss@round=5"
selection = "last round"
n = 3
dataset = "mnist"
figures = [
  { label = "fedavg", mean = 0.5, std = 0.25 },
  { label = "fedprox", partition.alpha = 0.5, "algorithms.mu" = 1, mean = 1, n = 2, dataset = "cifar10" },
]
[[published]]
source = "Roe"
figures = [{ epsilon = inf, label = "x", mean = 100 }]
)";

}  // namespace fedarena::test
