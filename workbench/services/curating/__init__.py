"""Curating a pool of questions, before anything is asked about them.

`pool`: which questions there are, and what a person decides of them. `duplicates`, `exclusion`: what goes out. `types`:
proposed by models, said by people. `licensing`: of a source. `drawing`: so many a type, frozen as a set. `status`: all
of it, counted by source.
"""
