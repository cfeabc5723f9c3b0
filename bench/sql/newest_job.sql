-- The last id that was handed out.
select last_value from awa.job_positions
