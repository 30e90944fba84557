#pragma once

#include "fedarena/base/error.hpp"

namespace fedarena {

/// The source of a file is to blame: its server fails, or what it has is not the published file. Another
/// source may do better, which it could not on a full disk.
class SourceError : public Error {
 public:
  using Error::Error;
};

}  // namespace fedarena
