# Finds LibTorch, whatever way it was installed: a system package, the unpacked C++ archive, or a pip-installed torch.
#
# LibTorch's own CMake files are not used: those of a CUDA build demand the CUDA Toolkit, its compiler and sometimes a
# GPU from every program that links to it, also from one that compiles no CUDA, and pip installs CUDA builds.
#
# CMAKE_PREFIX_PATH may name the folder that holds lib/ and include/ (libtorch, or site-packages/torch), or, below it,
# share/cmake, which is what torch.utils.cmake_prefix_path prints.
#
#   LibTorch::LibTorch   target: headers (as system headers) and libraries
#   LibTorch_VERSION     such as 1.13.0
#   LibTorch_CUDA        whether it is a CUDA build
set(_hints "")
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _hints "${_prefix}" "${_prefix}/../..")
endforeach()
string(REPLACE ":" ";" _environment "$ENV{CMAKE_PREFIX_PATH}")
foreach(_prefix IN LISTS _environment)
  list(APPEND _hints "${_prefix}" "${_prefix}/../..")
endforeach()

find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_hints} PATH_SUFFIXES include)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_hints} PATH_SUFFIXES lib)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_hints} PATH_SUFFIXES lib)
# Optional: the library that also brings the CUDA parts, and the CUDA parts themselves.
find_library(LibTorch_ALL_LIBRARY torch HINTS ${_hints} PATH_SUFFIXES lib)
find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS ${_hints} PATH_SUFFIXES lib)
find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda HINTS ${_hints} PATH_SUFFIXES lib)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_ALL_LIBRARY
                 LibTorch_CUDA_LIBRARY LibTorch_C10_CUDA_LIBRARY)

set(_api "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
set(LibTorch_VERSION "")
foreach(_file IN ITEMS "${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h" "${_api}/torch/version.h")
  if(EXISTS "${_file}" AND NOT LibTorch_VERSION)
    file(STRINGS "${_file}" _lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    list(TRANSFORM _lines REPLACE "[^0-9]*([0-9]+)" "\\1")
    list(JOIN _lines "." LibTorch_VERSION)
  endif()
endforeach()

set(LibTorch_CUDA OFF)
if(LibTorch_CUDA_LIBRARY)
  set(LibTorch_CUDA ON)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "Debian: apt-get install libtorch-dev. Another one: set CMAKE_PREFIX_PATH to the folder that \
holds its lib/ and include/, for a pip-installed torch the folder site-packages/torch.")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  # Some LibTorches carry headers of fmt without its library; they would hide those of the fmt that we link. Then a
  # folder of links stands for LibTorch's, with all but those.
  set(_include "${LibTorch_INCLUDE_DIR}")
  if(EXISTS "${_include}/fmt" AND NOT _include IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set(_include "${PROJECT_BINARY_DIR}/libtorch-include")
    file(REMOVE_RECURSE "${_include}")
    file(MAKE_DIRECTORY "${_include}")
    file(GLOB _entries RELATIVE "${LibTorch_INCLUDE_DIR}" "${LibTorch_INCLUDE_DIR}/*")
    list(REMOVE_ITEM _entries fmt)
    foreach(_entry IN LISTS _entries)
      file(CREATE_LINK "${LibTorch_INCLUDE_DIR}/${_entry}" "${_include}/${_entry}" SYMBOLIC)
    endforeach()
  endif()
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_include};${_include}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "${LibTorch_CPU_LIBRARY};${LibTorch_C10_LIBRARY}")
  if(LibTorch_CUDA)
    # The CUDA parts register themselves when they are loaded: keep them linked. Our kernels ask for streams by name.
    set_property(TARGET LibTorch::LibTorch APPEND PROPERTY INTERFACE_LINK_OPTIONS
      "LINKER:--push-state,--no-as-needed" "${LibTorch_ALL_LIBRARY}" "LINKER:--pop-state")
    set_property(TARGET LibTorch::LibTorch APPEND PROPERTY INTERFACE_LINK_LIBRARIES "${LibTorch_C10_CUDA_LIBRARY}")
  endif()
endif()
