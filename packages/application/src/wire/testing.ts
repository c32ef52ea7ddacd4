import { namedAtOnce, testingModes, type TestingState } from "@rangewright/domain"
import type { KeptInspection, RangeMachine } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

const items = Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String).check(Schema.isMaxLength(namedAtOnce))))

/** What is to be allowed or no longer allowed while testing. Absent, null and empty name nothing. */
export const AllowPayload = Schema.Struct({ domains: items, ips: items }).annotate({ identifier: "AllowPayload" })

export const ItemFailures = Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))

/** The answer of a start and a stop. `warnings` and `runID` are ours. */
export const TestingResult = Schema.Struct({
  result: Schema.String,
  /** What the range's router cannot prevent; machines that could not be rolled back. */
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The run that did it. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "TestingResult" })

/** Of the operations that change what is allowed. */
export const allowStatuses = {
  200: "the outcome for each entry",
  400: "the body is malformed or wrongly typed, or names too many at once",
  409: "testing is not on, or starting it or an earlier change did not finish; a run is changing the range; the router's rules cannot be planned: every reason is listed",
  502: hypervisorAway,
} as const

/** What the router of a range did not let out. */
export const BlockedTraffic = Schema.Struct({
  testingState: Schema.Literals(testingModes),
  /** When the router was asked; absent: never. */
  inspectedAt: Schema.optionalKey(Schema.String),
  /** `changed`: it had other rules than those that were loaded, so that more may have got out. */
  rules: Schema.optionalKey(Schema.Literals(["as-loaded", "changed"])),
  /** All packets that were blocked. */
  packets: Schema.Int,
  /** False: destinations or names are missing. */
  complete: Schema.Boolean,
  blocked: Schema.Array(
    Schema.Struct({
      /** Address that the packets claimed to come from, and the machine that has it. */
      source: Schema.String,
      machine: Schema.optionalKey(Schema.String),
      destination: Schema.String,
      /** A name, or the protocol's number. */
      protocol: Schema.String,
      port: Schema.optionalKey(Schema.Int),
      packets: Schema.Int,
    }),
  ),
  /** Names that machines asked their router for and that are not allowed. Machines that keep their way out ask freely: theirs are not in it. */
  names: Schema.Array(
    Schema.Struct({
      source: Schema.String,
      machine: Schema.optionalKey(Schema.String),
      /** As the machine wrote it; `<name unprintable>` where it cannot be shown. */
      name: Schema.String,
      queries: Schema.Int,
    }),
  ),
}).annotate({ identifier: "BlockedTraffic" })

const protocols: Readonly<Record<number, string>> = { 1: "icmp", 6: "tcp", 17: "udp" }

export const blockedTraffic = (
  { mode }: TestingState,
  inspection: KeptInspection | undefined,
  machines: readonly Pick<RangeMachine, "name" | "address">[],
): typeof BlockedTraffic.Type => {
  if (inspection === undefined) return { testingState: mode, packets: 0, complete: false, blocked: [], names: [] }
  const names = new Map(machines.map(({ name, address }) => [address, name]))
  const machineAt = (source: string) => {
    const machine = names.get(source)
    return machine === undefined ? {} : { machine }
  }
  return {
    testingState: mode,
    inspectedAt: inspection.at.toISOString(),
    rules: inspection.rules,
    packets: inspection.packets,
    complete: inspection.isComplete,
    blocked: inspection.refused.map(({ protocol, ...to }) => ({
      ...to,
      protocol: protocols[protocol] ?? String(protocol),
      ...machineAt(to.source),
    })),
    names: (inspection.refusedNames ?? []).map((asked) => ({ ...asked, ...machineAt(asked.source) })),
  }
}
