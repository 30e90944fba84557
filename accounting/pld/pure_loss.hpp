#pragma once

#include <memory>

#include "accounting/pld/loss.hpp"

namespace fedarena::pld {

/// Laplace noise on the line; neighbours lie 1/epsilon scales apart.
Law laplace_loss(double epsilon);
/// k-ary randomised response; with 2 categories it dominates every mechanism of its epsilon (Kairouz, Oh,
/// Viswanath, ICML 2015, Theorem 3.3 and Lemma 6.2).
Law response_loss(double epsilon, double categories);

}  // namespace fedarena::pld
