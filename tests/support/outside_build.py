"""How a program outside of the tree is compiled against the build under test: with its compiler and its sanitizers."""

import os
import re


def environment(build_folder):
    """os.environ with what CMake and compilers heed: CC, CXX, CXXFLAGS, LDFLAGS."""
    cache = (build_folder / "CMakeCache.txt").read_text(encoding="utf-8")
    value = {name: re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE).group(1)
             for name in ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "OPSERVE_SANITIZE")}
    sanitize = f"-fsanitize={value['OPSERVE_SANITIZE']}" if value["OPSERVE_SANITIZE"] else ""
    return {**os.environ, "CC": value["CMAKE_C_COMPILER"], "CXX": value["CMAKE_CXX_COMPILER"], "CXXFLAGS": sanitize,
            "LDFLAGS": sanitize}
