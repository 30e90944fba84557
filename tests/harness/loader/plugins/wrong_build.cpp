// Built by another compiler against another LibTorch.
#include <fedarena/plugin.hpp>

static void install(fedarena::Registry&) { throw "must not be called"; }

extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin;
extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin = {sizeof(fedarena::Plugin),
                                                                  fedarena::kPluginAbi,
                                                                  "gcc 1",
                                                                  FEDARENA_CXX_ABI,
                                                                  "0.4.1",
                                                                  "elsewhere",
                                                                  "1.0.0",
                                                                  &install};
