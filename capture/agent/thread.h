// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <csignal>
#include <cstddef>
#include <pthread.h>

namespace warpline::agent {

/// Starts a detached thread that takes none of the program's signals.
inline bool startThread(void* (*body)(void*), void* argument, const char* name, std::size_t stackBytes) {
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0)
        return false;
    (void)::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)::pthread_attr_setstacksize(&attributes, stackBytes);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    (void)::pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread{};
    const bool started = ::pthread_create(&thread, &attributes, body, argument) == 0;
    if (started)
        (void)::pthread_setname_np(thread, name);
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    (void)::pthread_attr_destroy(&attributes);
    return started;
}

} // namespace warpline::agent
