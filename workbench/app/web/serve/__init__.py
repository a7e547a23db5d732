"""The app in a browser: links and cookies, one app process per person, connected by a WebSocket.

server: its start and end, pages, and access control with rate limits. sessions: people online. app_process: the app
behind a page. addresses: where the server is reached.

Terminal, font and the packet format are textual-serve's; permissions are decided here.
"""
