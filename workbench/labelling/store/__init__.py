"""The SQL of annotation.

assignments, claiming, check_items: slots and their assignment. conflicts, flags: items that need a decision.
guidelines, agreement: versions, labels in force. admissions: links and logins. blind: what a session may read.
bundling, foreign: exchange with other databases.
"""
