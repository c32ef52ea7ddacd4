/** Texts for actions on many ranges at once. */
const s = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

export const bulk = {
  several: "Select several",
  select: (id: string) => `Select ${id}`,
  selectAll: "Select all that are shown",
  chosen: (n: number) => `${s(n, "range")} selected`,
  actions: {
    poweron: "Start",
    shutdown: "Shut down",
    deploy: "Deploy",
    snapshot: "Take a snapshot",
    rollback: "Roll back",
  },
  titles: {
    poweron: (n: number) => `Start ${s(n, "range")}?`,
    shutdown: (n: number) => `Shut down ${s(n, "range")}?`,
    deploy: (n: number) => `Deploy ${s(n, "range")}?`,
    snapshot: (n: number) => `Take a snapshot of ${s(n, "range")}?`,
    rollback: (n: number) => `Roll back ${s(n, "range")}?`,
  },
  explain: {
    poweron: "Machines that are off are started.",
    shutdown: "Machines that are on are asked to shut down. What is not saved in them may be lost.",
    deploy: "Each range is changed to match its configuration. Nothing is deleted.",
    snapshot: "One snapshot of this name is taken of each machine.",
    rollback: "Every machine goes back to the snapshot of this name. Everything done since is lost.",
  },
  plans: "What it would change in each",
  planned: { planning: "Planning", nothing: "Nothing to do", changes: "Changes", refused: "Refused" },
  snapshotName: "Name of the snapshot",
  reports: {
    poweron: "Starting",
    shutdown: "Shutting down",
    deploy: "Deploying",
    snapshot: "Taking snapshots",
    rollback: "Rolling back",
  },
  begun: "A run is working on it.",
  blocked: "Waiting for another run on this range.",
  ended: "Done",
  notBegun: "The service did not report whether it started. Check the range's runs.",
} as const
