-- migrate:up transaction:false
CREATE INDEX CONCURRENTLY scans_parcel_at ON scans (parcel_id, at);

-- migrate:down transaction:false
DROP INDEX CONCURRENTLY scans_parcel_at;
