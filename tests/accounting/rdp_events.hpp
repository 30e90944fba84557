#pragma once

#include "fedarena/accounting/event.hpp"

namespace fedarena {

inline Event poisson(double rate, double noise, Adjacency adjacency = Adjacency::kAddRemove) {
  return SampledGaussian{Sampling::kPoisson, rate, {noise}, adjacency};
}
inline Event fixed_size(double rate, double noise, Adjacency adjacency = Adjacency::kReplaceOne) {
  return SampledGaussian{Sampling::kWithoutReplacement, rate, {noise}, adjacency};
}

}  // namespace fedarena
