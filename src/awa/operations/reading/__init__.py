"""What operators see of jobs, queues, kinds, runtimes and the whole: asked by the API and the console alike.

Every look is bounded. A page has a limit, a walk has a budget of time and answers with how far it came, a
count stops at a bound and says so. What no bound could make quick enough is read from the statistics that the
maintenance leader keeps (see `awa.maintenance.activity`), and is told as "about". Nothing here changes anything.
"""
