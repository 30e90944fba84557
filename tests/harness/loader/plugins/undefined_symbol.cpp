// A plugin that needs a function that nobody has.
#include <fedarena/algorithm.hpp>

int a_function_that_nobody_has();

FEDARENA_PLUGIN("undefined", "1.0.0") { (void)a_function_that_nobody_has(); }
