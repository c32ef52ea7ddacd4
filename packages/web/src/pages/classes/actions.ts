import type { SnapshotResult } from "@rangewright/application/wire"
import { change, changeText } from "../../api/client.ts"
import { snapshotText } from "../../range/snapshot-outcome.ts"

export const verbs = ["poweron", "shutdown", "deploy", "snapshot", "rollback"] as const
export type Verb = (typeof verbs)[number]

export const namesSnapshot = (verb: Verb): boolean => verb === "snapshot" || verb === "rollback"

const bodyOfAll = { machines: ["all"] }

/** Does it to one range; what to say of it. `name`: that of the snapshot. */
export const doTo = async (verb: Verb, rangeID: string, name: string): Promise<string> => {
  switch (verb) {
    case "poweron":
      return changeText("PUT", "/range/poweron", { rangeID }, bodyOfAll)
    case "shutdown":
      return changeText("PUT", "/range/shutdown", { rangeID }, bodyOfAll)
    case "deploy":
      return changeText("POST", "/range/deploy", { rangeID })
    case "snapshot":
      return snapshotText(await change<SnapshotResult>("POST", "/snapshots/create", { rangeID }, { name }))
    case "rollback":
      return snapshotText(await change<SnapshotResult>("POST", "/snapshots/rollback", { rangeID }, { name }))
  }
}
