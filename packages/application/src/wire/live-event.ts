import { rangeStates } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { NoticeObject } from "./notice.ts"
import { RunSummary } from "./run.ts"

const removed = Schema.Literal(true)

/** A range as `GET /ranges/accessible` lists it; without `accessType` for an administrator who sees it without having it. */
export const LiveRange = Schema.Struct({
  rangeID: Schema.String,
  rangeNumber: Schema.Int,
  accessType: Schema.optionalKey(Schema.Literals(["Direct", "Group"])),
  name: Schema.String,
  rangeState: Schema.Literals(rangeStates),
}).annotate({ identifier: "LiveRange" })

/** A machine as `GET /range` shows it. */
export const LiveMachine = Schema.Struct({
  rangeID: Schema.String,
  proxmoxID: Schema.Int,
  name: Schema.String,
  poweredOn: Schema.Boolean,
  /** The text `null` while no address is known. */
  ip: Schema.String,
  isRouter: Schema.Boolean,
  cpu: Schema.Int,
  /** Whole GiB. */
  ram: Schema.Int,
  /** Since when it is missing from the hypervisor's list. */
  missingSince: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "LiveMachine" })

/** A run as `GET /runs` lists it, with the last ID on its own stream, which has its progress. */
export const LiveRun = Schema.Struct({ ...RunSummary.fields, runID: Schema.String, lastEventID: Schema.Int }).annotate({
  identifier: "LiveRun",
})

/** The data of an event; the event's name tells which it is. */
export const LiveData = Schema.Union([
  LiveRun,
  LiveMachine,
  LiveRange,
  NoticeObject,
  Schema.Struct({ groupName: Schema.String, removed }).annotate({ identifier: "NoticeRemoved" }),
  Schema.Struct({ rangeID: Schema.String, proxmoxID: Schema.Int, removed }).annotate({ identifier: "MachineRemoved" }),
  Schema.Struct({ rangeID: Schema.String, removed }).annotate({ identifier: "RangeRemoved" }),
  /** Of `reset`: what was read before may be outdated. Of `ready`: the stream begins here. */
  Schema.Struct({ reason: Schema.String }).annotate({ identifier: "StreamNote" }),
]).annotate({ identifier: "LiveData" })

export type LiveData = typeof LiveData.Type
