"""Builds client/web in a copy of its folder, as npm's lock file says, and runs its tests against the server under test, in a Chromium, too."""

import sys

import node_test

PACKAGE = "client/web"
# What the package is built of, and what its tests read.
READ = ["client/node", "proto", "docs/web.md"]

if __name__ == "__main__":
    sys.exit(node_test.check(PACKAGE, READ, ("node", "npm")))
