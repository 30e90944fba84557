#include <fedarena/algorithm.hpp>

FEDARENA_PLUGIN("install_throws_number", "1.0.0") { throw 42; }
