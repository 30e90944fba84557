#pragma once

/// For functions that a GPU's kernels call, too: nvcc compiles them for both. No product in them is
/// contracted with a sum, so that both find the same bits.
#ifdef __CUDACC__
#define FEDARENA_HOST_DEVICE __host__ __device__
#define FEDARENA_UNROLL _Pragma("unroll")
#else
#define FEDARENA_HOST_DEVICE
#define FEDARENA_UNROLL
#endif
