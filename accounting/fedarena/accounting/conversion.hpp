#pragma once

#include <span>
#include <string_view>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// How a curve of Rényi divergences becomes an epsilon.
enum class Conversion {
  kBalle,    ///< "balle": Balle, Barthe, Gaboardi, Hsu, Sato, AISTATS 2020, Theorem 21
  kClassic,  ///< "classic": Mironov, CSF 2017, Proposition 3; never smaller
};

/// The conversion of that name; throws Error that lists the names.
FEDARENA_API Conversion conversion_of(std::string_view name);

/// An epsilon, and the order of the divergence that proves it.
struct FEDARENA_API RdpEpsilon {
  double epsilon = 0;  ///< >= 0, possibly infinity
  double order =
      0;  ///< infinity: proven by the sum of pure epsilons; without meaning where epsilon is infinite
};

/// The least epsilon that the curve (one divergence per order, each > 1, both of one length) proves for
/// delta, 0 <= delta < 1. Delta 0 gives infinity unless some divergence is 0. Throws Error for a delta or an
/// order outside, for a divergence that is negative or no number.
FEDARENA_API RdpEpsilon epsilon_of_rdp(std::span<const double> orders, std::span<const double> rdp,
                                       double delta, Conversion conversion = Conversion::kBalle);

/// What a privacy filter proves for delta, 0 <= delta < 1, that goes on while any of the orders proves no
/// more than `budget` >= 0, where answers decide what is asked for next: then they decide that order, too. Of
/// one order fixed beforehand that is the budget (Feldman & Zrnic, NeurIPS 2021); of several it is budget +
/// D, where exp(-(order - 1) D) summed over the orders that can pay is 1 (docs/accounting.md).
FEDARENA_API double epsilon_of_filter(std::span<const double> orders, double budget, double delta,
                                      Conversion conversion = Conversion::kBalle);

/// The least delta that the curve proves for epsilon >= 0 by the conversion of Balle et al.; at most 1.
FEDARENA_API double delta_of_rdp(std::span<const double> orders, std::span<const double> rdp, double epsilon);

}  // namespace fedarena
