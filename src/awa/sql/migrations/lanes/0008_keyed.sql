-- Of a claim's positions those whose end must look at the job, beside appending a closure; null where none must.
ALTER TABLE awa.lane_claims ADD COLUMN keyed int8multirange;
