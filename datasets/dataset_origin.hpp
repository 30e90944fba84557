#pragma once

namespace fedarena {

/// Where a data set comes from.
enum class DatasetOrigin {
  kFiles,  ///< published files below a folder for data
  kOwn,    ///< what the user brings under a path
  kDrawn,  ///< the program draws it
};

}  // namespace fedarena
