# Run by ctest; see CMakeLists.txt for the variables.
cmake_minimum_required(VERSION 3.22)
include("${source}/tests/package/steps.cmake")
set(prefix "${folder}/prefix")
set(runs "${folder}/runs")
set(plugin "${folder}/sign_sgd")

# Moved after installing: what follows must not depend on where the prefix was.
file(REMOVE_RECURSE "${folder}")
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${folder}/elsewhere" ${config_option})
file(RENAME "${folder}/elsewhere" "${prefix}")

file(GLOB package_files "${prefix}/lib/cmake/*/*.cmake")
foreach(file IN LISTS package_files)
  file(READ "${file}" text)
  foreach(path IN ITEMS "${build}" "${source}" libtorch.so libtorch_cpu. libc10.)
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names \"${path}\", which is of the machine that built it")
    endif()
  endforeach()
endforeach()

run("${CMAKE_COMMAND}" -C "${cache}" -S "${source}/tests/package/sign_sgd" -B "${plugin}" -G "${generator}"
  "-DCMAKE_BUILD_TYPE=${config}" "-Dfedarena_DIR=${prefix}/lib/cmake/fedarena")
run("${CMAKE_COMMAND}" --build "${plugin}" ${config_option})
file(GLOB_RECURSE library "${plugin}/sign_sgd.so")
get_filename_component(plugin_path "${library}" DIRECTORY)

set(program "${prefix}/bin/fedarena")
run("${program}" plugins --plugin-path "${plugin_path}")
expect("${output}" "fedavg +fedavg 1.0.0")
expect("${output}" "sign-sgd +sign_sgd 1.0.0")
expect("${output}" "class-recall +class_recall 1.0.0")
string(FIND "${output}" "warning" position)
if(NOT position EQUAL -1)
  message(FATAL_ERROR "a plugin is not in use:\n${output}")
endif()

run("${program}" run "${source}/tests/package/sign_sgd/experiment.toml" --plugin-path "${plugin_path}" --workers 1
  --out "${runs}")
run("${program}" table "${runs}" --columns epsilon-rdp)
expect("${output}" "sign-sgd +\\| +none ")
expect("${output}" "class-recall +\\| +[78]\\.[0-9]+ ")  # as planned, votes included
