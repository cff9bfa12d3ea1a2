// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <pthread.h>

namespace warpline::agent {

class Lock {
  public:
    explicit Lock(pthread_mutex_t& mutex) : m_mutex(mutex) { ::pthread_mutex_lock(&m_mutex); }
    ~Lock() { ::pthread_mutex_unlock(&m_mutex); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    pthread_mutex_t& m_mutex;
};

} // namespace warpline::agent
