"""The SQL of people's work.

assignments, claiming, check_items: slots and who gets which. conflicts, flags: what waits for a decision.
guidelines, suggestions, agreement: versions, suggested types, labels in force. admissions: links and logins.
forecasting: labels to come, and lately. blind: what a session may read.
bundling, foreign: databases of others, out and in.
"""
