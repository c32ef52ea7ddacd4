import type { LiveData } from "../wire/live-event.ts"
import { noticeObject } from "../wire/notice.ts"
import { runSummary } from "../wire/run.ts"
import type { Sight } from "./access.ts"
import { aboutOf, type Seen } from "./look.ts"

/** What events show of a thing. Only of a range does it depend on who reads. */
export const dataOf = (seen: Seen, sight?: Sight): LiveData => {
  switch (seen.kind) {
    case "range": {
      const { id, number, name, state } = seen.range
      const accessType = sight?.ranges.get(id)
      return {
        rangeID: id,
        rangeNumber: number,
        ...(accessType === undefined ? {} : { accessType }),
        name,
        rangeState: state,
      }
    }
    case "machine": {
      const { rangeId, vmid, name, power, address, isRouter, cpus, memoryMiB, missingSince } = seen.machine
      return {
        rangeID: rangeId,
        proxmoxID: vmid,
        name: name ?? "",
        poweredOn: power === "running",
        ip: address ?? "null",
        isRouter,
        cpu: cpus,
        ram: Math.floor(memoryMiB / 1024),
        ...(missingSince === undefined ? {} : { missingSince: missingSince.toISOString() }),
      }
    }
    case "notice":
      return noticeObject(seen.notice)
    case "run":
      return { ...runSummary(seen.run), runID: seen.run.id, lastEventID: seen.run.lastSeq }
  }
}

/** What events show of a thing that is gone. */
export const goneData = (seen: Seen): LiveData =>
  seen.kind === "notice"
    ? { groupName: seen.notice.group, removed: true }
    : seen.kind === "machine"
      ? { rangeID: seen.machine.rangeId, proxmoxID: seen.machine.vmid, removed: true }
      : { rangeID: aboutOf(seen).rangeId ?? "", removed: true }
