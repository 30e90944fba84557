// Offers one name twice.
#include <fedarena/algorithm.hpp>

FEDARENA_PLUGIN("twice", "1.0.0") {
  for (const char* name : {"twin", "twin"}) {
    registry.add({.name = name, .description = {}, .fields = {}, .create = {}, .plugin = {}, .library = {}});
  }
}
