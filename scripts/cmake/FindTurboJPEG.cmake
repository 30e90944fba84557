# Finds the TurboJPEG interface of libjpeg-turbo. Debian's package brings CMake files that also ask for a static library
# of another package.
include("${CMAKE_CURRENT_LIST_DIR}/find_c_library.cmake")
find_c_library(TurboJPEG TARGET TurboJPEG::turbojpeg HEADER turbojpeg.h NAMES turbojpeg DEBIAN libturbojpeg0-dev)
