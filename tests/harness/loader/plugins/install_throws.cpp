#include <stdexcept>

#include <fedarena/algorithm.hpp>

FEDARENA_PLUGIN("install_throws", "1.0.0") {
  registry.add(
      {.name = "half_installed", .description = {}, .fields = {}, .create = {}, .plugin = {}, .library = {}});
  throw std::runtime_error("the disk is full");
}
