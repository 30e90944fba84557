#pragma once

#include "fedarena/base/error.hpp"

namespace fedarena {

/// No bound that this library knows covers the event; the message says which event and why. A table prints it
/// as "not proven", never as a number.
class FEDARENA_API Unproven : public Error {
 public:
  using Error::Error;
};

}  // namespace fedarena
