-- migrate:up
ALTER TABLE parcels ADD COLUMN delivered_at timestamptz;
ALTER TABLE customers ADD COLUMN language text NOT NULL DEFAULT 'en';

UPDATE parcels SET delivered_at = (
  SELECT max(at) FROM scans WHERE scans.parcel_id = parcels.id AND scans.status = 'delivered'
);

-- migrate:down
ALTER TABLE customers DROP COLUMN language;
ALTER TABLE parcels DROP COLUMN delivered_at;
