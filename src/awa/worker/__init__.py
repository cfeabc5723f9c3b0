"""The worker: claims jobs in sets, runs their handlers, ends attempts in sets.

A job's way through this room, in order: `queue_loop` claims it, `runners` give it a task, `attempt`
runs its handler and decides how it ended, `finisher` tells the database. Beside them `heartbeat`
says that the runtime is alive and hears which attempts it lost, `cancellation` stops attempts,
`wake` sleeps until there is something to claim. `runtime` puts them together and shuts them down.
"""
