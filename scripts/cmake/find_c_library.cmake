# find_c_library(NAME TARGET ... HEADER ... NAMES ... [SUFFIX ...] DEBIAN ...): what Find modules of C libraries have in
# common, whose packages bring no CMake files, or none that serve. The imported target has header and library; where the
# header and a library of one of the names are not found, the message says which package of Debian has them.
include(FindPackageHandleStandardArgs)

macro(find_c_library name)
  cmake_parse_arguments(_library "" "TARGET;HEADER;SUFFIX;DEBIAN" "NAMES" ${ARGN})
  find_path(${name}_INCLUDE_DIR ${_library_HEADER} PATH_SUFFIXES ${_library_SUFFIX})
  find_library(${name}_LIBRARY NAMES ${_library_NAMES} PATH_SUFFIXES ${_library_SUFFIX})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  find_package_handle_standard_args(${name}
    REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Debian: apt-get install ${_library_DEBIAN}.")
  if(${name}_FOUND AND NOT TARGET ${_library_TARGET})
    add_library(${_library_TARGET} UNKNOWN IMPORTED)
    set_target_properties(${_library_TARGET} PROPERTIES
      IMPORTED_LOCATION "${${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endmacro()
