# Run by ctest; see CMakeLists.txt for the variables. Installs the accountants alone and builds a program on them.
cmake_minimum_required(VERSION 3.22)
include("${source}/tests/package/steps.cmake")
set(prefix "${folder}/prefix")

file(REMOVE_RECURSE "${folder}")
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}" --component accounting ${config_option})
if(EXISTS "${prefix}/bin" OR EXISTS "${prefix}/include/fedarena/model.hpp")
  message(FATAL_ERROR "more than the accountants was installed to ${prefix}")
endif()
run("${CMAKE_COMMAND}" -C "${cache}" -S "${source}/tests/package/epsilon_table" -B "${folder}/build" -G "${generator}"
  "-DCMAKE_BUILD_TYPE=${config}" "-Dfedarena-accounting_DIR=${prefix}/lib/cmake/fedarena-accounting")
run("${CMAKE_COMMAND}" --build "${folder}/build" ${config_option})
file(GLOB_RECURSE program LIST_DIRECTORIES false "${folder}/build/epsilon_table" "${folder}/build/*/epsilon_table")
list(GET program 0 program)
run("${program}")
# The epsilon of the FedLAP-DP paper's first round, by RDP.
expect("${output}" "rdp 2\\.7866")
# The exact epsilon is 2.38390; the bound lies at most one part in a thousand above it.
expect("${output}" "pld 2\\.38[3-6]")
