// The shops' overview: one row a parcel.

import type { Parcel } from "../api/client";

interface Props {
  parcels: Parcel[];
  onOpen: (code: string) => void;
}

const WORDS: Record<Parcel["status"], string> = {
  created: "Handed over",
  in_transit: "On its way",
  delivered: "Delivered",
  returned: "Returned",
};

export function statusWord(status: Parcel["status"]): string {
  return WORDS[status];
}

export function ParcelTable({ parcels, onOpen }: Props) {
  if (parcels.length === 0) {
    return <p>No parcels yet.</p>;
  }
  return (
    <table>
      <tbody>
        {parcels.map((parcel) => (
          <tr key={parcel.code} onClick={() => onOpen(parcel.code)}>
            <td>{parcel.code}</td>
            <td>{parcel.carrier}</td>
            <td>{statusWord(parcel.status)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
