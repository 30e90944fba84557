#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fedarena/base/export.hpp"

namespace fedarena {

/// Calls `body` in a copy of this process, whose output goes nowhere, and tells what it died of: an exception
/// that left `body` or nobody caught, a signal, or a call of exit(). Empty when it lived. To be called while
/// no other thread is at work.
FEDARENA_API std::string died_of(const std::function<void()>& body);

/// Takes a piece of bytes.
using TakePiece = std::function<void(std::string_view piece)>;

/// The same, of a `body` that hands over what it made: `take` is given each piece in this process, whole and
/// in order, while the copy is at work. Pieces that came before a death have been taken.
FEDARENA_API std::string died_of(const std::function<void(const TakePiece& hand_over)>& body,
                                 const TakePiece& take);

}  // namespace fedarena
