// Its description ends before the fields that this program needs.
#include <fedarena/plugin.hpp>

[[gnu::used, gnu::retain, gnu::section("fedarena_plugin")]] static const std::uint32_t handshake[2] = {
    fedarena::kPluginAbi, 0};
