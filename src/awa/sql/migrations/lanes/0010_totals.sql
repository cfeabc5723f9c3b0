-- How many positions of the lane were claimed up to and with this row, so that the claims of an hour are counted by the
-- difference of two rows.
ALTER TABLE awa.lane_claims ADD COLUMN total bigint NOT NULL DEFAULT 0;
