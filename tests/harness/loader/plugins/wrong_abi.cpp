// Built with an SDK of the future; its other fields fit.
#include <fedarena/plugin.hpp>

static void install(fedarena::Registry&) { throw "must not be called"; }

extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin;
extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin = {sizeof(fedarena::Plugin),
                                                                  999,
                                                                  FEDARENA_COMPILER,
                                                                  FEDARENA_CXX_ABI,
                                                                  TORCH_VERSION,
                                                                  "future",
                                                                  "9.0.0",
                                                                  &install};
