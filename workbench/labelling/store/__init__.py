"""The SQL of annotation.

assignments, claiming, check_items: slots and their assignment. conflicts, flags: items that need a decision.
guidelines, suggestions, agreement: versions, suggested types, labels in force. admissions: links and logins.
forecasting: remaining and recent labels. blind: what a session may read. bundling, foreign: exchange with other
databases.
"""
