import { namedAtOnce, testingModes, type TestingState } from "@rangewright/domain"
import type { KeptInspection, RangeMachine } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

const items = Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String).check(Schema.isMaxLength(namedAtOnce))))

/** What to allow, or to deny again, while testing. Absent, null and empty name nothing. */
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

/** For the operations that change what is allowed. */
export const allowStatuses = {
  200: "the outcome for each entry",
  400: "the body is malformed or wrongly typed, or names too many at once",
  409: "testing is not on, or starting it or an earlier change did not finish; a run is changing the range; the router's rules cannot be planned: every reason is listed",
  502: hypervisorAway,
} as const

/** The traffic that the router of a range blocked. */
export const BlockedTraffic = Schema.Struct({
  testingState: Schema.Literals(testingModes),
  /** When the router was asked; absent: never. */
  inspectedAt: Schema.optionalKey(Schema.String),
  /** `changed`: its rules differed from those that were loaded, so more may have got out. */
  rules: Schema.optionalKey(Schema.Literals(["as-loaded", "changed"])),
  /** All packets that were blocked. */
  packets: Schema.Int,
  /** False: destinations or names are missing. */
  complete: Schema.Boolean,
  blocked: Schema.Array(
    Schema.Struct({
      /** Source address of the packets, unverified, and the machine that has it. */
      source: Schema.String,
      machine: Schema.optionalKey(Schema.String),
      destination: Schema.String,
      /** A name, or the protocol's number. */
      protocol: Schema.String,
      port: Schema.optionalKey(Schema.Int),
      packets: Schema.Int,
    }),
  ),
  /**
   * Names that machines asked their router for and that are not allowed. Not those of machines that keep internet access, whose queries are
   * not restricted.
   */
  names: Schema.Array(
    Schema.Struct({
      source: Schema.String,
      machine: Schema.optionalKey(Schema.String),
      /** As the machine sent it; `<name unprintable>` if it cannot be shown. */
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
