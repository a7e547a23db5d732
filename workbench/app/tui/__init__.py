"""The app in the terminal.

app: the application. notices: their position. destinations: screens by name. screen, table_screen,
figure_screen, form, person, live: base classes of screens. screens: one module each. kit: widgets. key_order,
keymap, meanings, registry, themes: keys and colours. sharing: copy or
save a text. copying: copyable parts of an item. served: in a browser. item_flow, judging, pace: a person at
work. review_desk: a reviewer. item_decisions: a coordinator's decisions. set_forms: forms for building a set.
verb_forms: forms for verbs. server_test: testing a model server before it judges. replays: recorded replies in
its place. switches: steps to a neighbour. start: no database yet.
suite_start: start a suite. trusting: ask for trust. allocating: memory. pictures: plots as files.
"""
