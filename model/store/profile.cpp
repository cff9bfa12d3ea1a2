// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/store/profile.h"

namespace warpline {

std::size_t Profile::bytes() const {
    return (frames ? frames->bytes() : 0) + (stacks ? stacks->bytes() : 0) +
           weights.capacity() * sizeof(StackWeight) + (timeline ? timeline->bytes() : 0);
}

} // namespace warpline
