#include "tests/paths.hpp"

#include <cstdlib>

namespace fedarena::test {

std::filesystem::path source_folder() { return FEDARENA_SOURCE_DIR; }
std::filesystem::path build_folder() { return FEDARENA_BUILD_DIR; }

std::filesystem::path data_folder() {
  const char* given = std::getenv("FEDARENA_TEST_DATA");
  return given != nullptr ? std::filesystem::path(given) : source_folder().parent_path() / "shared" / "data";
}

bool long_tests() { return std::getenv("FEDARENA_LONG_TESTS") != nullptr; }

}  // namespace fedarena::test
