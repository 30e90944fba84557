// Comes after good.cpp and offers a name that is taken, beside one that is free.
#include <fedarena/algorithm.hpp>

FEDARENA_PLUGIN("duplicate", "2.0.0") {
  for (const char* name : {"free", "thrower"}) {
    registry.add({.name = name, .description = {}, .fields = {}, .create = {}, .plugin = {}, .library = {}});
  }
}
