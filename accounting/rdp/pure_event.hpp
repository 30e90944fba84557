#pragma once

namespace fedarena {

/// The divergence of order > 1 between two outputs of k-ary randomised response, epsilon > 0. With k = 2 no
/// pure epsilon-DP mechanism has a larger one (Bun & Steinke, TCC 2016, Proposition 3.3).
double randomized_response_rdp(double categories, double epsilon, double order);

/// The divergence of the Laplace mechanism on the line (Mironov, CSF 2017, Proposition 6).
double laplace_rdp(double epsilon, double order);

}  // namespace fedarena
