// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include <QtGlobal>
