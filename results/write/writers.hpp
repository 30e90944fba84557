#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/write/cell.hpp"

namespace fedarena::results {

/// A table for readers and what is written around it, without full stops but for those inside the legend.
struct ReaderTable {
  std::string caption = {};  ///< what all rows share; may be empty
  CellGrid grid = {};        ///< empty where no run is finished
  std::string legend = {};
  std::vector<std::string> notes = {};
};

/// A Markdown table that also reads well in a terminal: caption above it, legend and notes below it.
std::string to_markdown(const ReaderTable& table);

/// A LaTeX table, no wider than the text, for the packages booktabs and graphicx, and for siunitx where
/// columns are aligned by their points.
std::string to_latex(const ReaderTable& table);

/// A small HTML page of its own: one <table>, its caption, the legend and the notes. It names its encoding,
/// loads nothing and holds no script, so that a browser opens it as a file.
std::string to_html_page(const ReaderTable& table);

/// These by the name of what they write: "html", "latex", "markdown".
using ReaderWriters = std::map<std::string, std::string (*)(const ReaderTable&)>;
inline const ReaderWriters& reader_writers() {
  static const ReaderWriters kWriters{{"html", to_html_page}, {"latex", to_latex}, {"markdown", to_markdown}};
  return kWriters;
}

/// A table as an element of a page; the first cell of a row names it.
struct HtmlTable {
  std::string caption = {};
  CellGrid grid = {};
  /// Whether cells of numbers carry them in full as `data-key`, and the table the class "sortable".
  bool sortable = false;
};

/// The element <table>, everything escaped.
std::string to_html(const HtmlTable& table);

}  // namespace fedarena::results
