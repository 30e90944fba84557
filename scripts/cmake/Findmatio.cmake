# Finds matio, which reads MATLAB files. Its package brings no CMake files.
include("${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake")
find_c_library(matio TARGET matio::matio HEADER matio.h NAMES matio DEBIAN libmatio-dev)
