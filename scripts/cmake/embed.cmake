# fedarena_embed(TARGET NAME=FILE ...): makes the bytes of files part of a target, each as a function NAME() that the
# target's asset.hpp declares. The sources are written when the project is configured, so that tools that read the
# sources without building them find all; a file that changes configures the project again.
function(fedarena_embed target)
  foreach(pair IN LISTS ARGN)
    string(FIND "${pair}" "=" equals)
    string(SUBSTRING "${pair}" 0 ${equals} name)
    math(EXPR equals "${equals} + 1")
    string(SUBSTRING "${pair}" ${equals} -1 file)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(SHA256 "${file}" hash)
    file(READ "${file}" digits HEX)
    # Lines of 32 bytes.
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
    string(REPEAT "0x[0-9a-f][0-9a-f]," 32 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"// Made of @file@.
#include \"results/report/asset.hpp\"

namespace fedarena::results {
namespace {

constexpr unsigned char kBytes[] = {
@bytes@};

}  // namespace

Asset @name@() {
  return {.text = {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)}, .sha256 = \"@hash@\"};
}

}  // namespace fedarena::results
")
    # Each has kBytes of its own.
    set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()
