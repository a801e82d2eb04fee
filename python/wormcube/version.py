"""The version of wormcube; ./run docs writes it."""
# SPDX-License-Identifier: Apache-2.0
__version__ = "1.0.0"
