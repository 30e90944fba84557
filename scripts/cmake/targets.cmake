# Functions that give every target the same warnings, sanitizers and precompiled headers.

# Warnings stay private to our targets and never reach those who link them.
function(fedarena_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # Contraction to fused multiply-adds would make results depend on the machine.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -ffp-contract=off)
  # GCC 12 and 13 see uninitialised strings where an aggregate is built inside a throw expression, and GCC 12 overlapping
  # copies where a text literal is added to a std::string (its bug 105651). GCC takes a source that another one includes
  # for a header, whose unnamed namespaces would differ wherever it is included.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-restrict -Wno-subobject-linkage)
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

# fedarena_sources(OUT TARGET [FOLDERS ...] [SOURCES ...] [ALONE ...]): what to compile for all sources in these folders and
# for those named. Headers take most of the time that a source takes, so FEDARENA_SOURCES_TOGETHER sources are compiled as
# one, but for those that are compiled ALONE. The files that include them name them from the root: CMake's own unity builds
# name absolute paths, with which no other clone could share a compiler cache.
function(fedarena_sources out target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FOLDERS;SOURCES;ALONE")
  set(files ${arg_SOURCES})
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS "${folder}/*.cpp")
    list(APPEND files ${found})
  endforeach()
  set(compiled)
  set(text "")
  set(count 0)
  set(batch 0)
  foreach(file IN LISTS files)
    if(NOT IS_ABSOLUTE "${file}")
      set(file "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    endif()
    get_filename_component(name "${file}" NAME)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${file}")
    if(FEDARENA_SOURCES_TOGETHER EQUAL 1 OR name IN_LIST arg_ALONE OR path MATCHES "^build/|^\\.\\."
       OR (FEDARENA_TOGETHER_ONLY AND NOT path IN_LIST FEDARENA_TOGETHER_ONLY))
      list(APPEND compiled "${file}")
      continue()
    endif()
    string(APPEND text "#include \"${path}\"\n")
    math(EXPR count "${count} + 1")
    if(count EQUAL FEDARENA_SOURCES_TOGETHER)
      fedarena_write_batch(compiled)
    endif()
  endforeach()
  if(count GREATER 0)
    fedarena_write_batch(compiled)
  endif()
  set(${out} "${compiled}" PARENT_SCOPE)
endfunction()

macro(fedarena_write_batch compiled)
  set(batch_file "${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${batch}.cpp")
  file(CONFIGURE OUTPUT "${batch_file}" CONTENT "${text}" @ONLY)
  list(APPEND ${compiled} "${batch_file}")
  set(text "")
  set(count 0)
  math(EXPR batch "${batch} + 1")
endmacro()

# LibTorch's headers take seconds to parse; one precompiled header serves every target that sees them.
function(fedarena_use_torch target)
  target_link_libraries(${target} PUBLIC fedarena_torch)
  if(NOT target STREQUAL fedarena_torch_pch)
    target_precompile_headers(${target} REUSE_FROM fedarena_torch_pch)
  endif()
endfunction()

# fedarena_module(NAME [SHARED] [TORCH] [COMPUTES] [FOLDERS ...] [SOURCES ...] [ALONE ...] LINK ...): a library of the
# harness, of all sources in these folders and of those named. One that COMPUTES is optimised in full, and under sanitizers,
# too, where its tests would take minutes; for the others that would cost the build more. ALONE: see fedarena_sources.
function(fedarena_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;TORCH;COMPUTES" "" "FOLDERS;SOURCES;ALONE;LINK")
  fedarena_sources(compiled ${name} FOLDERS ${arg_FOLDERS} SOURCES ${arg_SOURCES} ALONE ${arg_ALONE})
  if(arg_SHARED)
    add_library(${name} SHARED ${compiled})
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  else()
    add_library(${name} STATIC ${compiled})
  endif()
  fedarena_compile_settings(${name})
  if(NOT arg_COMPUTES)
    fedarena_compile_fast(${name})
  elseif(FEDARENA_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  if(arg_TORCH)
    fedarena_use_torch(${name})
  endif()
endfunction()

# For code whose time is spent elsewhere: options, messages, reports, tests. Optimising it would cost the build
# minutes.
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
  # What the product does is checked in the product, but for templates that tests alone instantiate. Checks of undefined
  # behaviour in the tests' own code, mostly macros, double the time that they take to compile.
  if(FEDARENA_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
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
  # clang's precompiled headers hold the paths of their clone, so no other clone would find in the compiler cache what one
  # has compiled; without them a source takes a second or two longer.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT torch)
    return()
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

# fedarena_test(NAME [TORCH] [PLUGINS] [SHARDS N] [FOLDERS ...] [SOURCES ...] LINK ...): a GoogleTest program of all sources
# in these folders and of those named. ctest starts it once, or N times side by side with a share of its tests each: a
# process for each test would start LibTorch hundreds of times. PLUGINS: it loads those of the build tree.
function(fedarena_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;PLUGINS" "SHARDS" "FOLDERS;SOURCES;ALONE;LINK")
  fedarena_sources(compiled ${name} FOLDERS ${arg_FOLDERS} SOURCES ${arg_SOURCES} ALONE ${arg_ALONE})
  add_executable(${name} ${compiled})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  fedarena_test_settings(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK} fedarena_test_paths GTest::gmock GTest::gtest_main)
  fedarena_precompile_for_test(${name} "${arg_TORCH}")
  if(arg_PLUGINS)
    add_dependencies(${name} fedarena_plugins)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(entry ${name})
    if(arg_SHARDS GREATER 1)
      math(EXPR number "${shard} + 1")
      set(entry ${name}.${number})
    endif()
    # Brief: what passed says nothing, so that a failure is found at once.
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 "--gtest_output=xml:${PROJECT_BINARY_DIR}/test-results/${entry}.xml")
    set_tests_properties(${entry} PROPERTIES TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard};LSAN_OPTIONS=suppressions='${PROJECT_SOURCE_DIR}/tests/lsan.supp':print_suppressions=0")
  endforeach()
endfunction()

# fedarena_fuzz_test(NAME [TORCH] [SOURCES ...] LINK ...): the readers in the current folder under damaged input, as the
# test NAME_test; or, where libFuzzer's instrumentation is among the sanitizers, as the program NAME that scripts/fuzz runs.
function(fedarena_fuzz_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LINK")
  set(torch)
  if(arg_TORCH)
    set(torch TORCH)
  endif()
  set(driver "${PROJECT_SOURCE_DIR}/tests/fuzz/driver")
  list(APPEND arg_SOURCES "${driver}/mutation.cpp")
  list(APPEND arg_LINK nlohmann_json::nlohmann_json)
  if(NOT FEDARENA_SANITIZE MATCHES "fuzzer")
    fedarena_test(${name}_test ${torch} FOLDERS . SOURCES ${arg_SOURCES} "${driver}/fuzz_test.cpp" LINK ${arg_LINK})
    return()
  endif()
  file(GLOB found CONFIGURE_DEPENDS *.cpp)
  add_executable(${name} ${found} ${arg_SOURCES} "${driver}/libfuzzer.cpp")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  fedarena_test_settings(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK} fedarena_test_paths GTest::gmock)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  fedarena_precompile_for_test(${name} "${arg_TORCH}")
endfunction()

# fedarena_plugin(NAME SOURCES ...): an algorithm plugin, found by the program in its build tree.
function(fedarena_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_library(${name} MODULE ${arg_SOURCES})
  fedarena_compile_settings(${name})
  # What they compute is LibTorch's; -O3 would take half as long again to compile.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
  target_link_libraries(${name} PRIVATE fedarena_sdk)
  fedarena_use_torch(${name})
endfunction()
