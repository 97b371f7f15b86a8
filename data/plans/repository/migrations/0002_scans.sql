-- migrate:up
CREATE TABLE scans (
  id bigserial PRIMARY KEY,
  parcel_id bigint NOT NULL REFERENCES parcels (id) ON DELETE CASCADE,
  status text NOT NULL,
  place text NOT NULL DEFAULT '',
  at timestamptz NOT NULL
);

-- migrate:down
DROP TABLE scans;
