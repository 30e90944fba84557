# The CUDA Toolkit, where it is: for a CUDA LibTorch, and for tests, which compile the kernels wherever they can.
#
#   FEDARENA_NVCC   whether kernels are compiled
#   FEDARENA_CUDA   whether the program has them, too: with a CUDA LibTorch
set(FEDARENA_NVCC OFF)
if(FEDARENA_WITH_TORCH AND (LibTorch_CUDA OR FEDARENA_BUILD_TESTS) AND NOT FEDARENA_SANITIZE)
  # From Turing to Hopper, and PTX for what comes after.
  set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;86-real;89-real;90" CACHE STRING "GPUs that kernels are compiled for")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake before 3.25.2 does not know that nvcc takes it.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(FEDARENA_NVCC ON)
  endif()
endif()
set(FEDARENA_CUDA OFF)
if(LibTorch_CUDA AND FEDARENA_NVCC)
  set(FEDARENA_CUDA ON)
  add_compile_definitions(FEDARENA_WITH_CUDA)  # in every target, for the precompiled headers that they share
elseif(LibTorch_CUDA)
  message(STATUS "LibTorch has CUDA, but there is no nvcc: on a GPU, private gradients are taken one example at a time")
endif()

# fedarena_gpu_kernels: harness/gradients/cuda/gpu.cu, without LibTorch.
if(FEDARENA_NVCC)
  add_library(fedarena_gpu_kernels STATIC "${PROJECT_SOURCE_DIR}/harness/gradients/cuda/gpu.cu")
  # Contraction to fused multiply-adds would make bits differ from the host's.
  target_compile_options(fedarena_gpu_kernels PRIVATE -fmad=false --expt-relaxed-constexpr -Xcompiler=-ffp-contract=off
    $<$<BOOL:${FEDARENA_WERROR}>:-Werror=all-warnings>)
  target_include_directories(fedarena_gpu_kernels PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/harness/base")
  # Static: the toolkit's shared one may be older than LibTorch's, which would then have to live with it.
  target_link_libraries(fedarena_gpu_kernels PUBLIC CUDA::cudart_static)
endif()
