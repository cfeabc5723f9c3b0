-- Sends a control message to find out whether a listener gets any: behind a pooler LISTEN succeeds and then hears nothing.
-- moves: nothing
-- index: none
-- bound: constant
-- params: message (a JSON object)
SELECT pg_notify('awa_control', %(message)s);
