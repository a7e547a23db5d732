"""SQL of trainings.

trainings: watched trainings, their audited samples, and alarms.
"""
