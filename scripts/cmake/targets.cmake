# Functions that give every target the same warnings, sanitizers and precompiled headers.

# Warnings stay private to our targets and never reach those who link them.
function(fedarena_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Contraction to fused multiply-adds would make results depend on the machine.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -ffp-contract=off)
  # GCC 12 and 13 see uninitialised strings where an aggregate is built inside a throw expression, and GCC 12 overlapping
  # copies where a text literal is added to a std::string (its bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-restrict)
  endif()
  if(FEDARENA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(FEDARENA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FEDARENA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${FEDARENA_SANITIZE})
  endif()
  # A shared precompiled header needs the same macros in every target.
  set_target_properties(${target} PROPERTIES DEFINE_SYMBOL "")
endfunction()

# LibTorch's headers take seconds to parse; one precompiled header serves every target that sees them.
function(fedarena_use_torch target)
  target_link_libraries(${target} PUBLIC fedarena_torch)
  if(NOT target STREQUAL fedarena_torch_pch)
    target_precompile_headers(${target} REUSE_FROM fedarena_torch_pch)
  endif()
endfunction()

# fedarena_module(NAME [SHARED] [TORCH] [COMPUTES] [APART] SOURCES ... LINK ...): a library of the harness. One that COMPUTES
# is optimised under sanitizers, too, where its tests would take minutes; optimising the others there would cost the build more.
# APART: its sources have names of their own in common, as every command has its Arguments, and are compiled one by one.
function(fedarena_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;TORCH;COMPUTES;APART" "" "SOURCES;LINK")
  if(arg_SHARED)
    add_library(${name} SHARED ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  else()
    add_library(${name} STATIC ${arg_SOURCES})
  endif()
  fedarena_compile_settings(${name})
  if(FEDARENA_COMPILE_TOGETHER AND NOT arg_APART)
    # Headers take most of the time that a source takes.
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # GCC takes an included source for a header, whose unnamed namespaces would differ wherever it is included.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
  if(arg_COMPUTES AND FEDARENA_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_TORCH)
    fedarena_use_torch(${name})
  endif()
endfunction()

# For code that runs once and never long: options, messages, tests. Optimising it would cost the build many minutes.
function(fedarena_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # GCC 12 at -O1 also sees copies beyond their bounds where a literal is added to a std::string.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# What every test program shares.
function(fedarena_test_settings target)
  fedarena_compile_settings(${target})
  fedarena_compile_fast(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${target} PRIVATE
    FEDARENA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FEDARENA_BUILD_DIR="${PROJECT_BINARY_DIR}")
  # CMake compiles programs with -fPIE and libraries with -fPIC, and a precompiled header serves one of them only.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# The precompiled header of the test programs, one for those that see LibTorch and one for the others.
function(fedarena_precompile_for_test target torch)
  set(pch fedarena_test_pch)
  set(headers <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
  set(libraries fmt::fmt GTest::gmock nlohmann_json::nlohmann_json)
  if(torch)
    set(pch fedarena_torch_test_pch)
    set(headers <torch/types.h> <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h>)
    set(libraries fedarena_torch fmt::fmt GTest::gmock)
    target_link_libraries(${target} PRIVATE fedarena_torch)
  endif()
  if(NOT TARGET ${pch})
    add_library(${pch} STATIC "${PROJECT_SOURCE_DIR}/tests/test_pch.cpp")
    fedarena_test_settings(${pch})
    target_link_libraries(${pch} PRIVATE ${libraries})
    target_precompile_headers(${pch} PRIVATE
      ${headers} <functional> <map> <memory> <optional> <span> <string> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# fedarena_test(NAME [TORCH] SOURCES ... LINK ...): a GoogleTest program; each test becomes a ctest entry.
function(fedarena_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  fedarena_test_settings(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  fedarena_precompile_for_test(${name} "${arg_TORCH}")
  # Parameters have names of their own; their bytes, which the default would append, differ from run to run.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600
    ENVIRONMENT "LSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/lsan.supp':print_suppressions=0")
endfunction()

# fedarena_plugin(NAME SOURCES ...): an algorithm plugin, found by the program in its build tree.
function(fedarena_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_library(${name} MODULE ${arg_SOURCES})
  fedarena_compile_settings(${name})
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
  target_link_libraries(${name} PRIVATE fedarena_sdk)
  fedarena_use_torch(${name})
  # Plugins are loaded at run time; building the program builds them too.
  add_dependencies(fedarena ${name})
endfunction()
