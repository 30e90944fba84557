#pragma once

#include <cstdint>

#include "datasets/dataset.hpp"

namespace fedarena {

inline constexpr std::int64_t kGlyphsTrain = 12'000;

/// Ten classes of synthetic hand-drawn digits, for tests and examples that must run without a download: uint8
/// [train, 1, 28, 28] for training and [2000, 1, 28, 28] for testing, every class equally often, in random
/// order. The same bytes on every machine: only integers and the IEEE operations + - * / and sqrt are used.
/// Takes all cores.
Dataset draw_glyphs(std::int64_t train = kGlyphsTrain);

}  // namespace fedarena
