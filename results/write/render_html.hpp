#pragma once

#include <string>

#include "results/table/column_selection.hpp"

namespace fedarena::results {

/// The table as a small HTML page of its own, with the same content as the Markdown one: one <table>, its
/// caption, the legend and the notes. It names its encoding, loads nothing and holds no script, so that a
/// browser opens it as a file; the element <table> stands on its own in other pages. An empty selection
/// stands for the default one.
std::string render_html(const Table& table, const Selection& selection = {});

}  // namespace fedarena::results
