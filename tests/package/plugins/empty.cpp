// A shared object that is no plugin.
// SPDX-License-Identifier: Apache-2.0
