/** Texts of the pages for who teaches. */
const s = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

export const classes = {
  title: "Classes",
  intro: "Groups of people and the ranges they work in. You manage these.",
  columns: { group: "Class", members: "People", ranges: "Ranges" },
  people: (members: number, managers: number) => `${s(members, "member")}, ${s(managers, "manager")}`,
  empty: "There is no class.",
  emptyText: "An administrator makes a group, and names who manages it.",
  tabs: { ranges: "Ranges", people: "People" },
  tabsLabel: "Pages of this class",
  lead: (ranges: number, help: number) =>
    help === 0
      ? `${s(ranges, "range")}; none needs help.`
      : `${s(ranges, "range")}; ${help} ${help === 1 ? "needs" : "need"} help.`,
  filter: "Filter by range, name or machine",
  only: "Only those that need help",
  rangeColumns: { range: "Range", state: "State", machines: "Machines", snapshot: "Last deploy" },
  noRanges: "The class has no ranges yet.",
  noRangesText: "Add ranges, or people and the ranges that they have, under “People”.",
  noMatch: "No range matches.",
  missing: (n: number) => `${s(n, "machine")} missing at the hypervisor`,
  peopleColumns: { user: "User", role: "Part", range: "Range" },
  roles: { member: "Member", manager: "Manager" },
  addPeople: "Add people",
  addPeopleHint: "User IDs, separated by commas or spaces.",
  asManagers: "As managers",
  addRanges: "Add ranges",
  addRangesHint: "Range IDs, separated by commas or spaces.",
  add: "Add",
  added: (text: string) => `Added: ${text}`,
  remove: "Remove",
  removePerson: (id: string, group: string) => `Remove ${id} from ${group}?`,
  removePersonText: "The access that the user has only by this group ends. The user and their own ranges stay.",
  removeRange: (id: string, group: string) => `Remove the range ${id} from ${group}?`,
  removeRangeText: "People of the group can no longer use it, except by other ways. The range stays.",
  removed: (text: string) => `Removed: ${text}`,
  nobody: "Nobody is in the class yet.",
  classRanges: "Ranges of the class",
} as const
