import type { readMigrationReport } from "@rangewright/application"
import { nicNetwork } from "@rangewright/domain"
import type * as Effect from "effect/Effect"

type Report = Effect.Success<typeof readMigrationReport>
type Machine = Report["machines"][number]

const states: Readonly<Record<Machine["nics"][number]["state"], string>> = {
  moved: "",
  "moved-and-changed": ", and more of it has changed",
  "on-bridge": ", still on its bridge",
  elsewhere: ", elsewhere",
  gone: ", gone",
}

const network = (card: string | undefined): string => (card === undefined ? "none" : (nicNetwork(card) ?? "none"))

const machineLines = ({ name, proxmoxID, node, rangeID, present, nics }: Machine): readonly string[] => [
  `${name} (VM ${proxmoxID} on ${node})${rangeID === undefined ? "" : ` of ${rangeID}`}${present ? "" : ": gone or unreadable"}`,
  ...nics.map(({ nic, before, now, state }) => `    ${nic}  ${network(before)} -> ${network(now)}${states[state]}`),
]

/** A migration's report for people: one line for each machine and for each of its cards. */
export const reportText = ({ recorded, zone, machines }: Report): string => {
  if (!recorded) return "No migration has recorded anything."
  const moved = machines.filter(({ nics }) => nics.every(({ state }) => state === "moved" || state === "moved-and-changed"))
  return [
    ...machines.flatMap(machineLines),
    `${moved.length} of ${machines.length} recorded machines have all network cards in the zone ${zone}.`,
  ].join("\n")
}
