import type { Call } from "./site.ts"

/** An operation on the lab of `makeLab` that changes who may do what. */
export interface AccessOperation {
  readonly name: string
  readonly call: Call
  /** Whether its success promises that this fact is gone for good. Undefined: it revokes nothing. */
  readonly takes?: (fact: string) => boolean
  /** The objects that it concerns: operations that share one interfere with each other. */
  readonly about: readonly string[]
}

const boss = "BOSS"
const starts = (start: string) => (fact: string) => fact.startsWith(start)

export const accessOperations: readonly AccessOperation[] = [
  {
    name: "password changed",
    call: { id: "postCredentials", as: "BOB", body: { proxmoxPassword: "Second-word-1-of-2" } },
    takes: starts("bob@pve signs in"),
    about: ["BOB"],
  },
  { name: "group created", call: { id: "createGroup", as: boss, body: { name: "FRESH" } }, about: ["FRESH"] },
  {
    name: "member added",
    call: { id: "addUsersToGroup", as: boss, group: "CREW", body: { userIDs: ["DAN"] } },
    about: ["CREW", "DAN", "LAB"],
  },
  {
    name: "manager added",
    call: { id: "addUsersToGroup", as: boss, group: "TEAM", body: { userIDs: ["DAN"], managers: ["DAN"] } },
    about: ["TEAM", "DAN"],
  },
  {
    name: "member removed",
    call: { id: "removeUsersFromGroup", as: boss, group: "TEAM", body: { userIDs: ["BOB"] } },
    takes: starts("bob@pve has"),
    about: ["TEAM", "BOB", "range ANN"],
  },
  {
    name: "manager removed",
    call: { id: "removeUsersFromGroup", as: boss, group: "TEAM", body: { userIDs: ["CAT"] } },
    takes: (fact) => fact === "cat@pve has DEN" || fact === "cat@pve has ANN",
    about: ["TEAM", "CAT", "DEN"],
  },
  {
    name: "range added to a group",
    call: { id: "addRangesToGroup", as: boss, group: "TEAM", body: { rangeIDs: ["DAN"] } },
    about: ["TEAM", "range DAN"],
  },
  {
    name: "range removed from a group",
    call: { id: "removeRangesFromGroup", as: boss, group: "TEAM", body: { rangeIDs: ["DEN"] } },
    takes: (fact) => fact === "cat@pve has DEN",
    about: ["TEAM", "DEN", "CAT"],
  },
  {
    name: "group removed",
    call: { id: "deleteGroup", as: boss, group: "TEAM", path: { groupName: "TEAM" } },
    takes: (fact) => fact === "cat@pve has DEN" || fact.endsWith("has ANN"),
    about: ["TEAM", "BOB", "CAT", "DEN"],
  },
  {
    name: "group of a deployed range removed",
    call: { id: "deleteGroup", as: boss, group: "CREW", path: { groupName: "CREW" } },
    takes: (fact) => fact === "ann@pve has LAB" || fact === "the router of LAB lets ann@pve in",
    about: ["CREW", "ANN", "LAB"],
  },
  {
    name: "range shared",
    call: { id: "assignRangeToUser", as: boss, path: { userID: "DAN", rangeID: "LAB" }, range: "LAB" },
    about: ["LAB", "DAN"],
  },
  {
    name: "range unshared",
    call: { id: "revokeRangeFromUser", as: boss, path: { userID: "CAT", rangeID: "LAB" }, range: "LAB" },
    takes: (fact) => fact === "cat@pve has LAB" || fact === "the router of LAB lets cat@pve in",
    about: ["LAB", "CAT"],
  },
  {
    name: "user added",
    call: {
      id: "addUser",
      as: boss,
      body: { name: "Eve", userID: "EVE", email: "eve@lab.example", password: "First-EVE-password-1" },
    },
    about: ["EVE"],
  },
  {
    name: "user removed",
    call: { id: "deleteUser", as: boss, path: { userID: "BOB" } },
    takes: (fact) => fact.startsWith("bob@pve") || fact === "the router of LAB lets bob@pve in",
    about: ["BOB", "LAB", "DEN"],
  },
  {
    name: "user removed with the default range",
    call: { id: "deleteUser", as: boss, path: { userID: "CAT" }, query: { deleteDefaultRange: "true" } },
    takes: (fact) => fact.startsWith("cat@pve") || fact === "the router of LAB lets cat@pve in",
    about: ["CAT", "LAB", "DEN"],
  },
  {
    name: "range created",
    call: { id: "createRange", as: boss, body: { name: "New", rangeID: "NEW", userID: ["BOB", "DAN"] } },
    about: ["NEW", "BOB", "DAN"],
  },
  {
    name: "range deleted",
    call: { id: "deleteRange", as: "BOB", range: "DEN", query: { force: true } },
    takes: (fact) => fact.endsWith("has DEN"),
    about: ["DEN", "BOB", "CAT", "TEAM"],
  },
  {
    name: "deployed range deleted",
    call: { id: "deleteRange", as: "BOB", range: "LAB", query: { force: true } },
    takes: (fact) => fact.endsWith("has LAB"),
    about: ["LAB", "BOB", "CAT", "TEAM"],
  },
  {
    name: "user promoted",
    call: { id: "setUserAdmin", as: boss, path: { userID: "DAN" }, body: { isAdmin: true } },
    about: ["DAN"],
  },
  {
    name: "administrator demoted",
    call: { id: "setUserAdmin", as: boss, path: { userID: "ANN" }, body: { isAdmin: false } },
    takes: (fact) => fact === "ann@pve is an administrator",
    about: ["ANN"],
  },
]
