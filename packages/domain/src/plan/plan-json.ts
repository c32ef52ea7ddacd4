import * as Schema from "effect/Schema"
import { Disguises } from "../machine/disguise.ts"
import { testingModes } from "../range/range.ts"
import { guestStages } from "./action.ts"
import { deployTags, roleSequences } from "./plan.ts"

/** Plans as journals store them. */

const text = Schema.String
const texts = Schema.Array(text)
const optionalText = Schema.optional(text)

const network = Schema.Union([
  Schema.Struct({ type: Schema.Literal("bridge"), name: text, node: text, comment: text }),
  Schema.Struct({ type: Schema.Literal("vnet"), name: text, zone: text, tag: Schema.Int, alias: text }),
])

const machine = Schema.Struct({
  vmid: Schema.Int,
  node: text,
  mark: Schema.Struct({
    range: text,
    machine: text,
    template: optionalText,
    adopted: Schema.optional(Schema.Boolean),
  }),
})

const nic = Schema.Struct({
  index: Schema.Int,
  model: text,
  mac: text,
  bridge: text,
  tag: Schema.optional(Schema.Int),
  firewall: Schema.Boolean,
})

/** The hardware that a VM shows. */
export const HardwareJson = Schema.Struct({
  cpu: optionalText,
  smbios: Schema.Record(text, text),
  disks: Schema.Array(
    Schema.Struct({ slot: text, vendor: optionalText, product: optionalText, model: optionalText, serial: optionalText }),
  ),
})

/** The settings of a VM. */
export const MachineSettingsJson = Schema.Struct({
  cpus: Schema.Finite,
  memoryMiB: Schema.Finite,
  balloonMiB: Schema.optional(Schema.Finite),
  nics: Schema.Array(nic),
  description: text,
  tags: texts,
  tablet: Schema.Boolean,
  hardware: Schema.optional(HardwareJson),
})

const action = <const K extends string, const F extends Schema.Struct.Fields>(kind: K, fields: F) =>
  Schema.Struct({ kind: Schema.Literal(kind), ...fields })

const Action = Schema.Union([
  action("create-pool", { poolId: text }),
  action("remove-pool", { poolId: text }),
  action("create-network", { network, nodes: Schema.optional(texts) }),
  action("remove-network", { network }),
  action("grant-access", { rangeId: text, userIds: texts, network }),
  action("clone", {
    machine,
    name: text,
    template: Schema.Struct({ vmid: Schema.Int, node: text, name: text }),
    pool: text,
    full: Schema.Boolean,
    storage: optionalText,
    description: text,
  }),
  action("configure", { machine, settings: MachineSettingsJson }),
  action("start", { machine, untilAgent: Schema.Boolean }),
  action("stop", { machine }),
  action("shutdown", { machine, timeoutSeconds: Schema.Finite }),
  action("delete", { machine }),
  action("take-snapshot", { machine, snapshot: Schema.Struct({ name: text, description: text, memory: Schema.Boolean }) }),
  action("roll-back", {
    machine,
    snapshot: text,
    takenAt: Schema.optional(Schema.Finite),
    generation: optionalText,
    digest: optionalText,
    settings: Schema.optional(MachineSettingsJson),
    wasOn: Schema.optional(Schema.Boolean),
  }),
  action("remove-snapshot", { machine, snapshot: text, takenAt: Schema.optional(Schema.Finite), description: optionalText }),
  action("record-testing", {
    rangeId: text,
    testing: Schema.Struct({ mode: Schema.Literals(testingModes), allowedDomains: texts, allowedIps: texts }),
  }),
  action("record-disguises", { rangeId: text, disguises: Disguises }),
  action("refuse", { vmid: Schema.Int, because: text }),
  action("await-address", { machine, expect: optionalText, within: text }),
  action("guest", {
    machine,
    os: Schema.Literals(["windows", "linux", "macos"]),
    stage: Schema.Literals(guestStages),
    input: Schema.Unknown,
  }),
  action("work", { work: text, input: Schema.Unknown }),
])

const step = Schema.Struct({
  key: text,
  title: text,
  tag: Schema.optional(Schema.Literals(deployTags)),
  machine: optionalText,
  action: Action,
  after: texts,
  behind: Schema.optional(texts),
  uses: Schema.Array(Schema.Struct({ resource: text, slots: Schema.Finite })),
  estimate: Schema.Finite,
  timedAs: optionalText,
  learned: Schema.optional(Schema.Literal(true)),
  tolerated: Schema.optional(Schema.Boolean),
  pointOfNoReturn: Schema.optional(Schema.Boolean),
})

const keptMachine = Schema.Struct({
  machine: text,
  vmid: Schema.Int,
  template: Schema.optional(Schema.Struct({ made: text, wanted: text })),
})

export const PlanJson = Schema.Struct({
  rangeId: optionalText,
  steps: Schema.Array(step),
  changes: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(["create", "change", "replace", "remove", "keep", "none"]),
      object: text,
      reasons: texts,
    }),
  ),
  placements: Schema.Array(Schema.Struct({ machine: text, node: text, reason: text })),
  allocations: Schema.Array(Schema.Struct({ machine: text, vmid: Schema.Int, node: text, address: optionalText })),
  kept: Schema.optional(Schema.Array(keptMachine)),
  notes: texts,
  criticalPathSeconds: Schema.Finite,
  roles: Schema.optional(Schema.Struct({ sequence: Schema.Literals(roleSequences), graphSavesSeconds: Schema.Finite })),
})

const actionKinds: ReadonlySet<string> = new Set(Action.members.map((member) => member.fields.kind.literal))
const isAnyPlan = Schema.is(
  Schema.Struct({
    steps: Schema.Array(Schema.Struct({ tag: optionalText, action: Schema.Struct({ kind: text, stage: optionalText }) })),
  }),
)
const isAmong = (known: readonly string[], word: string | undefined): boolean => word === undefined || known.includes(word)

/** Whether a plan has actions, stages or tags that this version does not know: a newer one made it. */
export const namesWhatIsNew = (plan: unknown): boolean =>
  isAnyPlan(plan) &&
  plan.steps.some(
    ({ tag, action: { kind, stage } }) => !actionKinds.has(kind) || !isAmong(guestStages, stage) || !isAmong(deployTags, tag),
  )
