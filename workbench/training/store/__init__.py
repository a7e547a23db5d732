"""SQL of trainings.

trainings: what is watched, the share that was taken, and what rose among it.
"""
