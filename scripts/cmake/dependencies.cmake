# Every package that fedarena builds on. scripts/install-dependencies brings them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG 1.6 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(FFTW3 REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(LibArchive REQUIRED)
find_package(TurboJPEG REQUIRED)
find_package(simdjson REQUIRED)
find_package(ChartJs 3.9 REQUIRED)

if(FEDARENA_WITH_TORCH)
  find_package(LibTorch 1.13 REQUIRED)
  find_package(matio REQUIRED)
  find_package(LibHDF5 REQUIRED)
  # A LibTorch of the old C++ library ABI cannot be linked with the system's fmt, oneTBB and Boost.
  file(STRINGS "${LibTorch_C10_LIBRARY}" new_abi_symbols LIMIT_COUNT 1 REGEX "c10.*__cxx11")
  if(NOT new_abi_symbols)
    message(FATAL_ERROR
      "The LibTorch at ${LibTorch_C10_LIBRARY} was built with the old C++ library ABI (_GLIBCXX_USE_CXX11_ABI=0), "
      "which the system's fmt, oneTBB and Boost do not share. Use the system package, a 'cxx11 ABI' archive of "
      "LibTorch, or a pip-installed torch of version 2.7 or newer.")
  endif()
endif()

if(FEDARENA_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(FEDARENA_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
