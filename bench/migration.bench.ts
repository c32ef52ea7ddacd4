/**
 * How long planning the migration of an installation takes, from values in memory: CPU time at 1, 4 and 16 times 100 ranges with 1,000
 * machines on 5 nodes, and the cost of a machine relative to its cost in the smallest. Goals: below 1 s for 1,000 ranges with 10,000
 * machines, and below 1.5 times per machine at 16x.
 */
import {
  type Installation,
  type InstallationMachine,
  type MigrationOptions,
  planMigration,
  type RangeId,
  type Vmid,
} from "../packages/domain/src/index.ts"

const scales = [1, 4, 16] as const
const size = { ranges: 100, machinesInRange: 10, nodes: 5 } as const
/** Rounds that are not counted, until the code is compiled. */
const warmUp = 3
const goal = { ranges: 1_000, seconds: 1, ratio: 1.5 } as const

const options: MigrationOptions = {
  clusterMode: true,
  zone: "ludus",
  vxlanTagBase: 0,
  natBridge: "vmbr1000",
  natVnet: "ludusnat",
  natGroups: ["users"],
  createZone: false,
}

const many = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

/** A router with four cards, and nine machines with one card and one snapshot each, all on the range's node. */
const machine = (range: number, index: number): InstallationMachine => {
  const bridge = `vmbr${1_001 + range}`
  const nics = many(index === 0 ? 4 : 1, (nic) => ({
    nic: `net${nic}`,
    text: `virtio=BC:24:11:00:00:0${nic},bridge=${index === 0 && nic === 0 ? "vmbr1000" : bridge},tag=${10 + nic},firewall=1`,
  }))
  return {
    vmid: (10_000 + range * size.machinesInRange + index) as Vmid,
    node: `pve${range % size.nodes}`,
    name: index === 0 ? `R${range}-router-debian11-x64` : `R${range}-m${index}`,
    kind: "vm",
    template: false,
    pool: `R${range}`,
    tags: [],
    running: true,
    lock: undefined,
    description: index % 2 === 0 ? "" : `{"groups":[],"rangewright":{"range":"R${range}","machine":"R${range}-m${index}"}}`,
    nics,
    snapshots: index === 0 ? [] : [{ name: "clean", nics }],
  }
}

/** The first node is the gateway, with a shell. */
const gateway: Installation["nodes"][number]["host"] = {
  type: "seen",
  addresses: [{ device: "vmbr1000", address: "192.0.2.254/24" }],
  routes: [],
  files: {},
}

const installation = (ranges: number): Installation => ({
  quorate: true,
  nodes: many(size.nodes, (at) => ({
    name: `pve${at}`,
    online: true,
    address: `10.0.0.${at + 1}`,
    missingPackages: [],
    pending: [],
    ...(at === 0 ? { host: gateway } : {}),
  })),
  zones: [
    {
      name: "ludus",
      type: "vxlan",
      peers: many(size.nodes, (at) => `10.0.0.${at + 1}`),
      nodes: [],
      mtu: undefined,
      state: undefined,
    },
  ],
  vnets: [],
  otherPending: [],
  bridges: many(ranges + 1, (at) => ({
    node: `pve${at === 0 ? 0 : (at - 1) % size.nodes}`,
    name: `vmbr${1_000 + at}`,
    ports: [],
    address: at === 0 ? "192.0.2.254/24" : undefined,
    settings: {},
  })),
  ranges: many(ranges, (at) => ({ id: `R${at}` as RangeId, number: at + 1, users: [`u${at}@pve`], groups: ["admins"] })),
  machines: many(ranges, (range) => many(size.machinesInRange, (index) => machine(range, index))).flat(),
  rights: [],
  record: undefined,
})

const cpuOf = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const median = (times: ReadonlyArray<number>): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN

const milliseconds = (ranges: number, rounds: number): number => {
  const world = installation(ranges)
  const { steps } = planMigration(world, options)
  if (steps.length < ranges * size.machinesInRange) throw new Error("the plan has not a step for every machine")
  const times = many(rounds + warmUp, () => cpuOf(() => planMigration(world, options)))
  return median(times.slice(warmUp))
}

if (import.meta.main) {
  const rounds = process.argv.includes("--quick") ? 3 : 15
  const row = (...cells: ReadonlyArray<string>): void => console.log(cells.map((cell) => cell.padStart(14)).join(""))
  row("ranges", "machines", "CPU ms", "us a machine")
  const timings = [...scales.map((scale) => size.ranges * scale), goal.ranges].map((ranges) => {
    const cpu = milliseconds(ranges, rounds)
    const perMachine = (cpu * 1_000) / (ranges * size.machinesInRange)
    row(`${ranges}`, `${ranges * size.machinesInRange}`, cpu.toFixed(1), perMachine.toFixed(2))
    return { cpu, perMachine }
  })
  const [first, , last, wished] = timings
  if (first === undefined || last === undefined || wished === undefined) throw new Error("nothing was measured")
  const met = (fits: boolean): string => (fits ? "reached" : "MISSED")
  console.log(
    `${wished.cpu.toFixed(0)} ms for ${goal.ranges} ranges: goal of ${goal.seconds} s ${met(wished.cpu < goal.seconds * 1_000)}`,
  )
  const ratio = last.perMachine / first.perMachine
  console.log(
    `a machine at 16x costs ${ratio.toFixed(2)} times what it costs at 1x: goal of ${goal.ratio} ${met(ratio < goal.ratio)}`,
  )
}
