// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/devices.h"

#include "model/base/json_writer.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline::capture {

std::int64_t Devices::freeOrdinal(std::int64_t wanted) const {
    const auto taken = [&](std::int64_t n) {
        return std::any_of(m_devices.begin(), m_devices.end(),
                           [&](const Device& d) { return d.ordinal == n; });
    };
    while (taken(wanted))
        ++wanted;
    return wanted;
}

std::int64_t Devices::add(Device device, std::int64_t own) {
    for (Device& d : m_devices) {
        if (d.uuid == device.uuid)
            return d.ordinal;
        // One met before it was described.
        if (d.uuid == Uuid{} && d.ordinal == own) {
            device.ordinal = d.ordinal;
            device.owner = d.owner;
            device.allocated = d.allocated;
            d = device;
            return d.ordinal;
        }
    }
    device.ordinal = freeOrdinal(own);
    m_devices.push_back(std::move(device));
    return m_devices.back().ordinal;
}

std::int64_t Devices::unknown(std::int64_t own) {
    if (find(own) == nullptr) {
        Device d;
        d.ordinal = own;
        m_devices.push_back(d);
    }
    return own;
}

Devices::Device* Devices::find(std::int64_t ordinal) {
    const auto it = std::find_if(m_devices.begin(), m_devices.end(),
                                 [&](const Device& d) { return d.ordinal == ordinal; });
    return it == m_devices.end() ? nullptr : &*it;
}

std::string Devices::json() const {
    std::string out;
    JsonWriter json(out);
    json.beginArray();
    for (const Device& d : m_devices) {
        if (d.uuid == Uuid{})
            continue;
        std::string uuid = "GPU-";
        for (std::size_t i = 0; i < d.uuid.size(); ++i) {
            if (i == 4 || i == 6 || i == 8 || i == 10)
                uuid += '-';
            uuid += fmt::format("{:02x}", d.uuid[i]);
        }
        json.beginObject();
        json.field("id", d.ordinal);
        json.field("name", d.name);
        json.field("totalGlobalMem", static_cast<std::int64_t>(d.memoryBytes));
        json.field("computeMajor", std::int64_t{d.major});
        json.field("computeMinor", std::int64_t{d.minor});
        json.field("numSms", std::int64_t{d.multiprocessors});
        json.field("uuid", uuid);
        json.endObject();
    }
    json.endArray();
    return out;
}

} // namespace warpline::capture
