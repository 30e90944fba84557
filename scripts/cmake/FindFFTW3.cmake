# Finds FFTW 3 in double precision. Debian's package brings no CMake files, and others' lack targets.
include("${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake")
find_c_library(FFTW3 TARGET FFTW3::fftw3 HEADER fftw3.h NAMES fftw3 DEBIAN libfftw3-dev)
