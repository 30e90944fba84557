// Its description ends before the fields that this program needs.
#include <fedarena/plugin.hpp>

extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin;
extern "C" FEDARENA_API const fedarena::Plugin fedarena_plugin = {
    8, fedarena::kPluginAbi, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
