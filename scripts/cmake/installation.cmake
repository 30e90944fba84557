# What `cmake --install` puts where. The prefix can be moved afterwards: nothing in it names the build tree.
#
#   component    files
#   accounting   what accounting_package.cmake says: libfedarena_base and the accountants, which all else builds on
#   program      bin/fedarena, bin/fedarena-full, lib/libfedarena_sdk.so.*, lib/libfedarena_mpi.so
#   plugins      lib/fedarena/plugins/*.so, where the program looks
#   development  include/fedarena, lib/cmake/fedarena, lib/libfedarena_sdk.so
include(CMakePackageConfigHelpers)

# A LibTorch outside the system's folders is found where it was at build time; our own libraries, wherever the prefix is.
set_target_properties(fedarena fedarena_full PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON)
set_target_properties(fedarena_sdk PROPERTIES
  INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON EXPORT_NAME sdk)

# The package does not know fedarena_torch; it finds LibTorch as the tree does, wherever that is by then.
get_target_property(sdk_links fedarena_sdk INTERFACE_LINK_LIBRARIES)
list(TRANSFORM sdk_links REPLACE "^fedarena_torch$" "$<BUILD_INTERFACE:fedarena_torch>")
set_target_properties(fedarena_sdk PROPERTIES
  INTERFACE_LINK_LIBRARIES "${sdk_links};$<INSTALL_INTERFACE:LibTorch::LibTorch>")

install(TARGETS fedarena fedarena_full RUNTIME DESTINATION bin COMPONENT program)
install(TARGETS fedarena_sdk EXPORT fedarena
  LIBRARY DESTINATION lib COMPONENT program NAMELINK_COMPONENT development)

if(TARGET fedarena_mpi)
  install(TARGETS fedarena_mpi LIBRARY DESTINATION lib COMPONENT program)
endif()

# Every plugin of the tree, whatever its folder.
get_property(plugin_folders DIRECTORY "${PROJECT_SOURCE_DIR}/plugins" PROPERTY SUBDIRECTORIES)
foreach(folder IN LISTS plugin_folders)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "MODULE_LIBRARY")
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)
      install(TARGETS ${target} LIBRARY DESTINATION lib/fedarena/plugins COMPONENT plugins)
    endif()
  endforeach()
endforeach()

install(DIRECTORY harness/sdk/fedarena DESTINATION include COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")

set(package_folder lib/cmake/fedarena)
install(EXPORT fedarena FILE fedarena-targets.cmake NAMESPACE fedarena:: DESTINATION ${package_folder}
  COMPONENT development)
configure_package_config_file(scripts/cmake/fedarena-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/fedarena-config.cmake" INSTALL_DESTINATION ${package_folder})
# Before 1.0 every minor version may change the binary interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/fedarena-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/fedarena-config.cmake" "${PROJECT_BINARY_DIR}/package/fedarena-config-version.cmake"
  scripts/cmake/FindLibTorch.cmake
  DESTINATION ${package_folder} COMPONENT development)
