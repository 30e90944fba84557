// Fits, but where its entry point should be there is a number.
#include <fedarena/plugin.hpp>

[[gnu::used, gnu::retain, gnu::section("fedarena_plugin")]] static constexpr fedarena::Plugin handshake = {
    fedarena::kPluginAbi, FEDARENA_COMPILER, FEDARENA_CXX_ABI, TORCH_VERSION, "kind", "1.0.0"};

extern "C" FEDARENA_API int fedarena_install;
int fedarena_install = 5;
