-- migrate:up
CREATE TABLE customers (
  id bigserial PRIMARY KEY,
  name text NOT NULL,
  email text NOT NULL UNIQUE
);

CREATE TABLE parcels (
  id bigserial PRIMARY KEY,
  code text NOT NULL UNIQUE,
  carrier text NOT NULL,
  status text NOT NULL DEFAULT 'created',
  customer_id bigint NOT NULL REFERENCES customers (id),
  recipient_email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- migrate:down
DROP TABLE parcels;
DROP TABLE customers;
