#pragma once

#include "harness/config/sections/experiment.hpp"
#include "harness/config/sections/sections.hpp"
#include "harness/config/syntax/document.hpp"

namespace fedarena::config {

/// Throws Error, at the algorithm's name, where the experiment does not give what the algorithm requires: a
/// privacy policy, proxy data, or a single round; and where both a noise multiplier and what finds it are
/// given.
void check_requirements(const Experiment& experiment, const AlgorithmEntry& entry, const Table& table,
                        const SectionSpec& algorithms, const Document& document);

/// Applies the rules that span sections to the experiment that was read from the document: fills in what
/// depends on other keys, and throws Error for what does not go together.
void apply_rules(Experiment& experiment, const Document& document);

}  // namespace fedarena::config
