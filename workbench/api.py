"""The Python API, for notebooks and scripts: ``workbench.open_project(path)``."""
