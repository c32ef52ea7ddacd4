/**
 * Random ranges for makespan benchmarks: 3 to 60 machines on 1 to 5 nodes, from a seed. A case is text, so that the model, the engine on
 * the simulator and a service over HTTP all measure the same ranges. It uses only stages whose duration every timing model knows.
 */

export interface MakespanCase {
  readonly seed: number
  /** Nodes of the cluster. With one, the range's network is a bridge; with more, a VNet. */
  readonly nodes: number
  /** Machines without the router. */
  readonly machines: number
  /** The range's configuration, in the JSON form of the file. */
  readonly text: string
}

/** Templates that the ranges are made from; the simulator has all of them. */
export const makespanTemplates = {
  router: "debian-11-x64-server-template",
  server: "win2022-server-x64-template",
  workstation: "win11-22h2-x64-enterprise-template",
  linux: ["debian-12-x64-server-template", "kali-x64-desktop-template"],
} as const

/** The seeds of the published figures. */
export const makespanSeeds: readonly number[] = Array.from({ length: 200 }, (_, i) => i + 1)

/** mulberry32: small, fast and the same everywhere. */
const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Dice {
  readonly whole: (from: number, to: number) => number
  readonly chance: (p: number) => boolean
  readonly pick: <T>(from: readonly T[]) => T
}

const dice = (seed: number): Dice => {
  const next = random(seed)
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return { whole, chance: (p) => next() < p, pick: (from) => from[whole(0, from.length - 1)]! }
}

interface Lab {
  readonly dice: Dice
  readonly vlans: readonly number[]
  /** Roles chosen so far, on which later ones may depend. */
  readonly roles: { readonly vm_name: string; readonly role: string }[]
  readonly machines: object[]
}

export const makespanCase = (seed: number): MakespanCase => {
  const d = dice(seed)
  const machines = d.whole(3, 60)
  const nodes = d.whole(1, 5)
  const vlans = Array.from({ length: d.whole(1, 5) }, (_, i) => 10 * (i + 1))
  const lab: Lab = { dice: d, vlans, roles: [], machines: [] }
  const windows = Math.round(machines * (0.2 + 0.1 * d.whole(0, 6)))
  addWindows(lab, windows)
  for (let i = windows; i < machines; i++) addMachine(lab, { template: d.pick(makespanTemplates.linux), linux: linuxOf(d) })
  return { seed, nodes, machines, text: JSON.stringify({ ludus: lab.machines }) }
}

const linuxOf = (d: Dice): object | boolean => (d.chance(0.3) ? { packages: ["git", "tmux"] } : true)

/** Puts Windows machines into domains of about ten; some are in no domain. */
const addWindows = (lab: Lab, count: number): void => {
  const { dice: d } = lab
  let left = count
  for (let domain = 1; left > 0; domain++) {
    const size = Math.min(left, d.whole(2, 16))
    const inDomain = size >= 2 && d.chance(0.85)
    const controllers = inDomain && size >= 5 && d.chance(0.4) ? 2 : 1
    for (let i = 0; i < size; i++) {
      const role = i === 0 ? "primary-dc" : i < controllers ? "alt-dc" : "member"
      addMachine(lab, {
        template: i < controllers || d.chance(0.4) ? makespanTemplates.server : makespanTemplates.workstation,
        windows: { sysprep: d.chance(0.15) },
        ...(inDomain ? { domain: { fqdn: `d${domain}.example`, role } } : {}),
      })
    }
    left -= size
  }
}

const addMachine = (lab: Lab, keys: object): void => {
  const { dice: d, machines, roles, vlans } = lab
  const number = machines.length + 1
  const vm_name = `{{ range_id }}-m${number}`
  const own = d.chance(0.4) ? Array.from({ length: d.whole(1, 2) }, (_, i) => `role${number}_${i + 1}`) : []
  machines.push({
    vm_name,
    hostname: `m${number}`,
    vlan: d.pick(vlans),
    ip_last_octet: number,
    ram_gb: d.pick([2, 4, 8]),
    cpus: d.pick([2, 4]),
    roles: own.map((name) => (roles.length > 0 && d.chance(0.3) ? { name, depends_on: [d.pick(roles)] } : name)),
    ...keys,
  })
  roles.push(...own.map((role) => ({ vm_name, role })))
}
