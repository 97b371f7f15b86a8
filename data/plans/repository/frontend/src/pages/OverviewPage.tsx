// The shops' overview: their parcels, a page at a time.

import { useEffect, useState } from "react";

import { listParcels, type Parcel } from "../api/client";
import { ParcelTable } from "../components/ParcelTable";

function storedToken(): string {
  return sessionStorage.getItem("waybill-token") ?? "";
}

export function OverviewPage() {
  const [page, setPage] = useState(1);
  const [parcels, setParcels] = useState<Parcel[]>([]);
  const [problem, setProblem] = useState("");

  useEffect(() => {
    listParcels(storedToken(), page)
      .then(setParcels)
      .catch(() => setProblem("Please try again later."));
  }, [page]);

  return (
    <main>
      {problem && <p role="alert">{problem}</p>}
      <ParcelTable parcels={parcels} onOpen={(code) => window.open(`/?code=${encodeURIComponent(code)}`)} />
      <button disabled={page === 1} onClick={() => setPage(page - 1)}>
        Newer
      </button>
      <button onClick={() => setPage(page + 1)}>Older</button>
    </main>
  );
}
