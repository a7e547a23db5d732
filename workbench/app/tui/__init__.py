"""The app in the terminal.

app: the application. start: the app before a database is open. served: the app in a browser. kit: widgets.
screens: one module per screen. screen, table_screen, figure_screen, form, person, live: their base classes.
destinations: screens that Go to opens by name or letter.
keymap, key_order, registry: actions and their keys. themes: colours.
desk: one item at a time. judging, pace: labelling, adjudicating. review_desk: coordinators' decisions.
verb_forms, suite_start: forms of verbs and of suites of tests. trusting: asking for trust.
server_test: testing a model server. replays: servers of recorded replies, in place of a model server.
sharing: saving or copying a table. copying: copyable parts of an item. allocating: memory.
"""
