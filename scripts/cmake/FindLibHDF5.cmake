# Finds the C library of HDF5. CMake's own module needs a C compiler to be enabled.
include("${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake")
find_c_library(LibHDF5 TARGET LibHDF5::hdf5 HEADER hdf5.h NAMES hdf5_serial hdf5 SUFFIX hdf5/serial DEBIAN libhdf5-dev)
