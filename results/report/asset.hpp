#pragma once

#include <string_view>

namespace fedarena::results {

/// A file that was embedded when the program was configured (scripts/cmake/embed.cmake).
struct Asset {
  std::string_view text;
  std::string_view sha256;  ///< of the text, in hexadecimal digits
};

Asset style_asset();          ///< report.css
Asset tables_asset();         ///< tables.js
Asset curves_asset();         ///< curves.js
Asset chart_asset();          ///< Chart.js, minified
Asset chart_licence_asset();  ///< what its package says of its authors and its licence

}  // namespace fedarena::results
