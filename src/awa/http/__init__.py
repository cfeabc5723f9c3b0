"""What the API and the console have in common. Neither face is imported here.

access.py decides what a request may do, with tokens.py, signing.py and origin.py: who asks, with which session, from
where. sessions.py logs in and out, throttle.py slows down who guesses. context.py gives a connection; live.py watches
what changes, once for all who look, and sse.py tells them; recent.py and etag.py spare what was asked a moment ago.
problems.py has an error's shape, forms.py and bodies.py what may come in, middleware.py is around everything.
"""
