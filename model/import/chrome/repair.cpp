// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/repair.h"

#include "model/import/chrome/repair_object.h"
#include "model/import/chrome/repair_text.h"

namespace warpline {

using namespace repairing;

namespace {

RepairedEvent outcome(RepairedEvent::Status status, std::size_t consumed, std::uint32_t repairs) {
    RepairedEvent r;
    r.status = status;
    r.consumed = consumed;
    r.repairs = repairs;
    return r;
}

/// Where an event or the end of the list follows what is neither, from `at` on; at most text.size().
std::size_t afterGarbage(std::string_view text, std::size_t at, bool final) {
    char before = ' '; // the last byte that is no space
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (isSpace(c))
            continue;
        // An object that is the value of a key is no event.
        if (c == '{' && before != ':') {
            const std::size_t next = skipSpace(text, at + 1);
            if (next == text.size() ? !final : text[next] == '"' || text[next] == '}')
                return at;
        }
        if (c == ']' && endsList(text, at, final) == ListEnd::Yes)
            return at;
        before = c;
    }
    return at;
}

} // namespace

RepairedEvent repairEvent(std::string_view text, bool final) {
    using Status = RepairedEvent::Status;
    std::uint32_t repairs = 0;
    std::size_t at = 0;
    bool comma = false;
    for (;;) {
        at = skipSpace(text, at);
        if (at == text.size())
            return outcome(final ? Status::End : Status::NeedMore, final ? at : 0, repairs);
        if (text[at] == ',') {
            if (comma)
                repairs |= Repair::ExtraComma;
            comma = true;
            ++at;
            continue;
        }
        if (text[at] != ']')
            break;
        // The end, unless another list follows at once.
        std::size_t next = skipSpace(text, at + 1);
        if (next < text.size() && text[next] == ',')
            next = skipSpace(text, next + 1);
        if (next == text.size() && !final)
            return outcome(Status::NeedMore, 0, repairs);
        if (next == text.size() || text[next] != '[')
            return outcome(Status::End, at + 1, repairs);
        repairs |= Repair::Restart;
        at = next + 1;
    }
    if (text[at] == '{') {
        RepairedEvent event = repairObject(text, at, final);
        event.repairs |= repairs;
        return event;
    }
    const std::size_t end = afterGarbage(text, at + 1, final);
    return outcome(Status::Skipped, end, repairs | Repair::Garbage);
}

} // namespace warpline
