-- One plain UPDATE that moves every row to another queue.
update plain_jobs set queue = 'moved' where queue = 'bench' and state = 'available'
