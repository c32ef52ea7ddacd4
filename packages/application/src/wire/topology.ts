import { powerStates, type Topology } from "@rangewright/domain"
import * as Schema from "effect/Schema"

const Verdict = Schema.Literals(["ACCEPT", "REJECT", "DROP"])

export const TopologyMachineObject = Schema.Struct({
  name: Schema.String,
  /** Absent: it does not exist yet. */
  vmid: Schema.optionalKey(Schema.Int),
  power: Schema.Literals([...powerStates, "absent"]),
  /** The address that it reports. */
  address: Schema.optionalKey(Schema.String),
  /** The address that it should have; absent: it is not in the configuration. */
  configured: Schema.optionalKey(Schema.String),
  os: Schema.optionalKey(Schema.Literals(["windows", "linux", "macos"])),
  template: Schema.optionalKey(Schema.String),
  domain: Schema.optionalKey(Schema.Struct({ fqdn: Schema.String, role: Schema.Literals(["primary-dc", "alt-dc", "member"]) })),
  missingSince: Schema.optionalKey(Schema.String),
  /** The step of a run that is working on it. */
  step: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "TopologyMachine" })

export const TopologyObject = Schema.Struct({
  rangeID: Schema.String,
  router: TopologyMachineObject,
  /** By VLAN; machines whose VLAN is unknown are last, in a lane without one. */
  lanes: Schema.Array(
    Schema.Struct({
      vlan: Schema.optionalKey(Schema.Int),
      network: Schema.optionalKey(Schema.String),
      gateway: Schema.optionalKey(Schema.String),
      machines: Schema.Array(TopologyMachineObject),
    }),
  ),
  /** In the order of the configuration: where several match, the last one decides. */
  rules: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      from: Schema.String,
      to: Schema.String,
      protocol: Schema.String,
      ports: Schema.String,
      verdict: Verdict,
    }),
  ),
  /** What applies if no rule matches; absent: the range has no configuration. */
  defaults: Schema.optionalKey(Schema.Struct({ betweenVlans: Verdict, outside: Verdict, vpn: Verdict })),
}).annotate({ identifier: "Topology" })

/** The topology with the steps that are working on machines, by machine name. */
export const topologyObject = (
  rangeID: string,
  topology: Topology,
  stepOf: ReadonlyMap<string, string>,
): typeof TopologyObject.Type => {
  const machine = (shown: Topology["router"]): typeof TopologyMachineObject.Type => {
    const step = stepOf.get(shown.name)
    return step === undefined ? shown : { ...shown, step }
  }
  const { router, lanes } = topology
  return {
    ...topology,
    rangeID,
    router: machine(router),
    lanes: lanes.map((lane) => ({ ...lane, machines: lane.machines.map(machine) })),
  }
}
