-- A runtime that may claim.
-- params: id
insert into awa.runtimes (id, host, pid, version, roles) values (%(id)s, 'bench', 0, '', '{worker}')
