import * as Result from "effect/Result"
import type { Disguise } from "../machine/disguise.ts"
import { machineAddress, networkName } from "../network/addressing.ts"
import {
  type DomainRole,
  type MachineConfig,
  renderName,
  resolveRoleOrder,
  type RoleNode,
  type RoleOrder,
} from "../range/config/index.ts"
import type { DeployInput } from "./input.ts"
import { legsOf } from "./legs.ts"
import { stageKey } from "./stage-keys.ts"

/** The first domain controller of a domain. */
export interface PrimaryController {
  readonly name: string
  readonly hostname: string
  readonly address: string
  readonly machine: MachineConfig
  /** Key of the stage that creates the domain. */
  readonly key: string
}

/** A Windows machine's place in a domain. */
export interface DomainPlace {
  readonly fqdn: string
  readonly role: DomainRole
  /** The first primary controller of that domain in the file; undefined when the file has none. */
  readonly primary: PrimaryController | undefined
}

/** Gives a machine's place in its domain; only machines with Windows have one. */
export type DomainPlaces = (machine: MachineConfig) => DomainPlace | undefined

/** A role on a machine, and the roles of other machines that must have run before. */
export interface PlacedRole {
  readonly role: string
  readonly needs: readonly RoleNode[]
}

/** A range and its configuration. */
export type Described = Pick<DeployInput, "config"> & { readonly range: Pick<DeployInput["range"], "id" | "number"> }

/** What the stages of all machines of a range share; computed once. */
export interface StageContext {
  readonly input: DeployInput
  readonly routerName: string
  /** VLANs on which the router has a leg (`legsOf`). */
  readonly legs: readonly number[]
  readonly nameOf: (text: string) => string
  readonly placeOf: DomainPlaces
  /** The roles of all machines, in an order that respects their dependencies. Empty when the dependencies allow no order. */
  readonly roles: readonly RoleNode[]
  /** The roles of the named machine, in an order that fits the whole range. Empty when the dependencies allow no order. */
  readonly rolesOf: (machine: string) => readonly PlacedRole[]
}

export const stageContext = (input: DeployInput): StageContext => {
  const { config, range } = input
  const nameOf = (text: string): string => renderName(text, { rangeId: range.id })
  const order = Result.getOrUndefined(resolveRoleOrder(config, range.id))
  return {
    input,
    routerName: nameOf(config.router.name),
    legs: legsOf(input, networkName(range.number, input.settings.clusterMode)),
    nameOf,
    placeOf: domainPlaces(input),
    roles: order?.order ?? [],
    rolesOf: rolesByMachine(order),
  }
}

/** The disguise that a machine is to have; only machines with Windows have one. */
export const disguiseOf = ({ input: { range }, nameOf }: StageContext, machine: MachineConfig): Disguise | undefined =>
  machine.os.kind === "windows" && Object.hasOwn(range.disguises ?? {}, nameOf(machine.name))
    ? range.disguises?.[nameOf(machine.name)]
    : undefined

export const domainPlaces = ({ config, range }: Described): DomainPlaces => {
  const nameOf = (text: string): string => renderName(text, { rangeId: range.id })
  const primaries = new Map<string, PrimaryController>()
  for (const machine of config.machines) {
    if (machine.os.kind !== "windows" || machine.domain?.role !== "primary-dc") continue
    const fqdn = machine.domain.fqdn.toLowerCase()
    if (primaries.has(fqdn)) continue
    const name = nameOf(machine.name)
    primaries.set(fqdn, {
      name,
      hostname: nameOf(machine.hostname),
      address: machineAddress(range.number, machine.vlan, machine.octet),
      machine,
      key: stageKey("primary-dc", name),
    })
  }
  return ({ os, domain }) =>
    os.kind !== "windows" || domain === undefined
      ? undefined
      : { fqdn: domain.fqdn, role: domain.role, primary: primaries.get(domain.fqdn.toLowerCase()) }
}

const rolesByMachine = (order: RoleOrder | undefined): ((machine: string) => readonly PlacedRole[]) => {
  const machines = new Map<string, Map<string, RoleNode[]>>()
  for (const { machine, role } of order?.order ?? []) {
    const roles = machines.get(machine) ?? new Map<string, RoleNode[]>()
    machines.set(machine, roles.set(role, []))
  }
  for (const { before, after } of order?.edges ?? [])
    if (before.machine !== after.machine) machines.get(after.machine)?.get(after.role)?.push(before)
  return (machine) => [...(machines.get(machine) ?? [])].map(([role, needs]) => ({ role, needs }))
}
