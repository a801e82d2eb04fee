// A plugin for another version of wormcube, which also lacks a symbol: the error names the version.
// SPDX-License-Identifier: Apache-2.0
extern "C" void wormcube_of_yesterday();
extern "C" const char* wormcube_plugin_version() { return "0.0.9 abi 1"; }
extern "C" void wormcube_plugin_register() { wormcube_of_yesterday(); }
