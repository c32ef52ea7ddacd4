/** Texts about deleting ranges and machines, for the pages of a range. */
export const removal = {
  title: "Delete",
  machines: "Delete the machines",
  machinesTitle: (id: string) => `Delete the machines of ${id}?`,
  machinesText: (machines: string) =>
    `${machines} will be deleted with their disks and snapshots. The range, its configuration and its network stay; a deploy creates the machines again.`,
  range: "Delete the range",
  rangeTitle: (id: string) => `Delete the range ${id}?`,
  rangeText: (machines: string | undefined) =>
    `Its configuration, its network and everybody's access to it will be deleted${machines === undefined ? "" : `, and ${machines} with their disks and snapshots`}. This cannot be undone.`,
  type: (id: string) => `Type ${id} to delete it`,
  machine: "Delete",
  machineTitle: (name: string) => `Delete ${name}?`,
  machineText: "Its disks and snapshots are deleted with it. While the configuration names it, the next deploy creates it again.",
} as const
