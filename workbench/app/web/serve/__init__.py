"""The app in a browser: links and cookies, one app process a person, a socket between the two.

server: its start and end, and who is let in, how often. sessions: who is there. app_process: the app behind a page.
pages: what a browser gets. addresses: where it is reached.

Terminal, font and the form of the packets are textual-serve's; who may do what is decided here.
"""
