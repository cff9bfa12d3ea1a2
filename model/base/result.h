// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace warpline {

/// Why something was not done. A cancelled request is not a failed one, and neither is a file that is
/// simply of another kind: callers treat the three differently.
struct Error {
    enum class Kind { Failed, Cancelled, WrongKind };
    Kind kind = Kind::Failed;
    /// One sentence for the user: what was read, where, what is wrong, what to do.
    std::string message;

    static Error failed(std::string m) { return {Kind::Failed, std::move(m)}; }
    static Error cancelled() { return {Kind::Cancelled, "Cancelled."}; }
    static Error wrongKind(std::string m) { return {Kind::WrongKind, std::move(m)}; }
};

/// Either a value or an Error. There is no conversion to bool, so that a value that is false and a failure
/// cannot be taken for one another.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    [[nodiscard]] bool cancelled() const { return !ok() && error().kind == Error::Kind::Cancelled; }
    T& value() & { return std::get<0>(m_state); }
    const T& value() const& { return std::get<0>(m_state); }
    T&& value() && { return std::get<0>(std::move(m_state)); }
    [[nodiscard]] const Error& error() const { return std::get<1>(m_state); }

  private:
    std::variant<T, Error> m_state;
};

struct Done {};

} // namespace warpline
