// The scans of one parcel, oldest first.

import type { Scan } from "../api/client";
import { statusWord } from "./ParcelTable";

export function formatTime(at: string, locale = "en-GB"): string {
  return new Date(at).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

export function Timeline({ scans }: { scans: Scan[] }) {
  return (
    <ol>
      {scans.map((scan) => (
        <li key={`${scan.at}-${scan.status}`}>
          <time dateTime={scan.at}>{formatTime(scan.at)}</time> {statusWord(scan.status)}
          {scan.place ? `, ${scan.place}` : ""}
        </li>
      ))}
    </ol>
  );
}
