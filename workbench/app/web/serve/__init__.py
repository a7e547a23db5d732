"""The app in a browser: links and cookies, one app process a person, a socket between the two.

Terminal, font and the form of the packets are textual-serve's; who may do what is decided here.
"""
