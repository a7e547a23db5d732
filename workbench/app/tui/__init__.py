"""The app in the terminal.

app: the application. notices: where they stand. destinations: where one goes by name. screen, table_screen,
figure_screen, form, person, live: what screens are made of. screens: one module each. kit: widgets. key_order,
keymap, meanings, registry, themes: keys and colours. wording: what the command line says, without flags. sharing: a
text for elsewhere. copying: what an item has for it. served: in a browser. item_flow, judging, pace: a person at
work. review_desk: a reviewer. item_decisions: what a coordinator decides. set_forms: what is asked before a set is
built. verb_forms: before any verb is run. server_test: a model server, before it judges. replays: recorded replies in
its place. switches: steps to what stands beside. start: no database yet. lending: the terminal, to somebody blind.
suite_start: a suite that was not run. trusting: what a verifier may use. allocating: memory. pictures: plots as
files.
"""
