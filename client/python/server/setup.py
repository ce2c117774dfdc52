"""The wheel has programs of one kind of machine, and runs with every Python."""

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class ProgramDistribution(Distribution):
    def has_ext_modules(self):
        return True


class ProgramWheel(bdist_wheel):
    def get_tag(self):
        _python, _abi, platform = super().get_tag()
        return "py3", "none", platform


setup(distclass=ProgramDistribution, cmdclass={"bdist_wheel": ProgramWheel})
