# Options and the settings that hold for every target of the project.
option(FEDARENA_BUILD_TESTS "Build the tests" ON)
option(FEDARENA_TEXT_TESTS "Build the tests of text and records, too: results, config, fuzz" ON)
option(FEDARENA_BUILD_BENCHMARKS "Build the Google Benchmark programs" OFF)
option(FEDARENA_WERROR "Treat compiler warnings as errors" OFF)
option(FEDARENA_WITH_TORCH "Build the modules that need LibTorch; without it: base, accounting, partitions, results, config" ON)
set(FEDARENA_SOURCES_TOGETHER 16 CACHE STRING "How many sources of a module are compiled as one: many are faster from nothing, 1 after a change")
set(FEDARENA_TOGETHER_ONLY "" CACHE STRING "Compile these sources as one with others, the rest by themselves: for scripts/lint")
option(FEDARENA_COMPILER_CACHE "Use ccache where it is installed" ON)
set(FEDARENA_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# ccache needs to be told of precompiled headers, and of paths below the checkout, which it then takes as relative: any
# clone finds what another one compiled.
find_program(FEDARENA_CCACHE ccache)
mark_as_advanced(FEDARENA_CCACHE)
if(FEDARENA_COMPILER_CACHE AND FEDARENA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${FEDARENA_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
