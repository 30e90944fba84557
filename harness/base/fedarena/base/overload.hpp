#pragma once

namespace fedarena {

/// Several lambdas as one visitor: `std::visit(Overload{[](int) {...}, [](double) {...}}, value)`.
template <typename... Visitors>
struct Overload : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overload(Visitors...) -> Overload<Visitors...>;

}  // namespace fedarena
