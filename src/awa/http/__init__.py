"""What the API and the console have in common: who may do what, tokens, bounded connections, careful headers.

Neither face is imported here. access.py decides what a request may do, tokens.py who asks, context.py gives it a
connection, problems.py an error's shape, middleware.py is around everything.
"""
