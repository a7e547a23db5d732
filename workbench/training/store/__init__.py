"""SQL of audited trainings.

trainings: trainings, their audited samples, and alarms.
"""
