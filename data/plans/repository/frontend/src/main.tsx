// The entry: the overview for shops at /overview, the tracking page anywhere else.

import { createRoot } from "react-dom/client";

import { OverviewPage } from "./pages/OverviewPage";
import { TrackPage } from "./pages/TrackPage";

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(window.location.pathname === "/overview" ? <OverviewPage /> : <TrackPage />);
}
