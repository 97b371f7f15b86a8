// The public tracking page: a code in, a timeline out.

import { useState, type FormEvent } from "react";

import { ApiError, trackParcel, type Tracking } from "../api/client";
import { Timeline } from "../components/Timeline";

export function TrackPage() {
  const [code, setCode] = useState("");
  const [tracking, setTracking] = useState<Tracking | null>(null);
  const [problem, setProblem] = useState("");

  async function onSubmit(event: FormEvent) {
    event.preventDefault();
    setProblem("");
    try {
      setTracking(await trackParcel(code.trim()));
    } catch (error) {
      const unknown = error instanceof ApiError && error.status === 404;
      setProblem(unknown ? "We do not know this code." : "Please try again later.");
    }
  }

  return (
    <main>
      <form onSubmit={onSubmit}>
        <label htmlFor="code">Parcel code</label>
        <input id="code" value={code} onChange={(event) => setCode(event.target.value)} />
        <button type="submit">Track</button>
      </form>
      {problem && <p role="alert">{problem}</p>}
      {tracking && <Timeline scans={tracking.scans} />}
    </main>
  );
}
