// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors

// The program goes to machines with a glibc older than the one it is built with. The static libstdc++ asks
// for arc4random where the build machine has it, which came with glibc 2.36, and libgcc for _dl_find_object
// of glibc 2.35; these serve in their place.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <link.h>
#include <sys/random.h>

extern "C" {

std::uint32_t arc4random() noexcept {
    std::uint32_t value = 0;
    auto* at = reinterpret_cast<char*>(&value);
    for (std::size_t left = sizeof value; left > 0;) {
        const ssize_t n = ::getrandom(at, left, 0);
        if (n <= 0)
            continue;
        at += n;
        left -= static_cast<std::size_t>(n);
    }
    return value;
}

/// Where the unwinder's table of the object that holds an address lies: how exceptions find their way.
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
    struct Search {
        ElfW(Addr) address;
        dl_find_object* result;
    } search{reinterpret_cast<ElfW(Addr)>(address), result};
    const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        const ElfW(Phdr)* table = nullptr;
        bool here = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr)& p = info->dlpi_phdr[i];
            const ElfW(Addr) begin = info->dlpi_addr + p.p_vaddr;
            if (p.p_type == PT_GNU_EH_FRAME)
                table = &p;
            if (p.p_type == PT_LOAD && s.address >= begin && s.address - begin < p.p_memsz) {
                here = true;
                s.result->dlfo_map_start = reinterpret_cast<void*>(begin);
                s.result->dlfo_map_end = reinterpret_cast<void*>(begin + p.p_memsz);
            }
        }
        if (!here || table == nullptr)
            return 0;
        s.result->dlfo_flags = 0;
        s.result->dlfo_link_map = nullptr;
        s.result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + table->p_vaddr);
        return 1;
    };
    return ::dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
}
