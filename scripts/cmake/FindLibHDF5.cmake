# Finds the C library of HDF5. CMake's own module needs a C compiler to be enabled.
#
#   LibHDF5::hdf5    target: header and library
include(FindPackageHandleStandardArgs)

find_path(LibHDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(LibHDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(LibHDF5_INCLUDE_DIR LibHDF5_LIBRARY)

find_package_handle_standard_args(LibHDF5
  REQUIRED_VARS LibHDF5_LIBRARY LibHDF5_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian: apt-get install libhdf5-dev.")

if(LibHDF5_FOUND AND NOT TARGET LibHDF5::hdf5)
  add_library(LibHDF5::hdf5 UNKNOWN IMPORTED)
  set_target_properties(LibHDF5::hdf5 PROPERTIES
    IMPORTED_LOCATION "${LibHDF5_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LibHDF5_INCLUDE_DIR}")
endif()
