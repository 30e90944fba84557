#pragma once

#include <string>

namespace fedarena::results {

/// An epsilon, or another number of an accountant, to the nearest fourth decimal; with four digits where it
/// is smaller, so that nothing but 0 looks like 0; "inf". Tables, which are quoted, round up instead: see
/// epsilon_text().
std::string epsilon_number(double number);

}  // namespace fedarena::results
