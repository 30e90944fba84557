# The CMake package fedarena-accounting: the accountants and the ledger for other programs, without LibTorch.
#
#   component    files
#   accounting   include/fedarena/{base,accounting}, lib/libfedarena_{base,accounting}.*, lib/cmake/fedarena-accounting
#
# `cmake --install BUILD --component accounting` installs this package alone.
include(CMakePackageConfigHelpers)

set_target_properties(fedarena_base PROPERTIES EXPORT_NAME base INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
set_target_properties(fedarena_accounting PROPERTIES EXPORT_NAME accounting)

set(package_folder lib/cmake/fedarena-accounting)
install(TARGETS fedarena_base fedarena_accounting EXPORT fedarena-accounting
  LIBRARY DESTINATION lib COMPONENT accounting ARCHIVE DESTINATION lib COMPONENT accounting)
install(DIRECTORY harness/base/fedarena accounting/fedarena DESTINATION include COMPONENT accounting
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT fedarena-accounting FILE fedarena-accounting-targets.cmake NAMESPACE fedarena::
  DESTINATION ${package_folder} COMPONENT accounting)
configure_package_config_file(scripts/cmake/fedarena-accounting-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/fedarena-accounting-config.cmake" INSTALL_DESTINATION ${package_folder})
# Before 1.0 every minor version may change the binary interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/fedarena-accounting-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/fedarena-accounting-config.cmake"
  "${PROJECT_BINARY_DIR}/package/fedarena-accounting-config-version.cmake"
  scripts/cmake/FindFFTW3.cmake scripts/cmake/find_c_library.cmake
  DESTINATION ${package_folder} COMPONENT accounting)
