#pragma once

#include "datasets/dataset.hpp"

namespace fedarena {

/// Ten classes of synthetic hand-drawn digits, for tests and examples that must run without a download: uint8
/// [12000, 1, 28, 28] for training and [2000, 1, 28, 28] for testing, every class equally often, in random
/// order. The same bytes on every machine: only integers and the IEEE operations + - * / and sqrt are used.
Dataset draw_glyphs();

}  // namespace fedarena
