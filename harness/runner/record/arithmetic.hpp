#pragma once

#include <string>

namespace fedarena {

/// Whose loops add up numbers in this process: those that LibTorch and, where that is the BLAS, OpenBLAS take
/// on this processor or by ATEN_CPU_CAPABILITY and OPENBLAS_CORETYPE, such as "LibTorch AVX2, OpenBLAS
/// Haswell". Others may round otherwise.
std::string arithmetic();

}  // namespace fedarena
