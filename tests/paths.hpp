#pragma once

#include <filesystem>

namespace fedarena::test {

/// The checkout, and the folder that this build fills. Functions instead of macros, so that no test's object file
/// depends on where the checkout is: clones share a compiler cache.
std::filesystem::path source_folder();
std::filesystem::path build_folder();

/// The folder of the real data sets: FEDARENA_TEST_DATA, or ../shared/data beside the checkout. It need not exist.
std::filesystem::path data_folder();

/// Whether tests run at their full size: FEDARENA_LONG_TESTS is set, as by scripts/test --long.
bool long_tests();

}  // namespace fedarena::test
