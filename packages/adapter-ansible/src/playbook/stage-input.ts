import {
  dhcpRange,
  type Json,
  type MachineDetail,
  type Range,
  type RangeHost,
  rangeNetwork,
  vlanNetwork,
  vpnNetwork,
} from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import { sameMachineCommand } from "./same-machine.ts"

type Fields = Readonly<Record<string, Json>>

/** What the playbooks are told of a machine's surroundings. */
export interface StageSite {
  readonly range: Pick<Range, "number">
  readonly target: Pick<RangeHost, "name"> & { readonly address: string }
  readonly detail: Pick<MachineDetail, "nics">
}

const fieldsOf = (value: Json): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Guests identify their network cards by address only, spelled in lower case. */
const macOfLeg = ({ detail }: StageSite, vlan: Json | undefined): string | null =>
  detail.nics.find(({ index, tag }) => index > 0 && tag === vlan)?.mac.toLowerCase() ?? null

const legsOf = (site: StageSite, legs: Json | undefined): Json =>
  (Array.isArray(legs) ? (legs as readonly Json[]) : []).map((leg) => {
    const { vlan, address } = fieldsOf(leg)
    const pool = typeof vlan === "number" ? dhcpRange(site.range.number, vlan) : undefined
    return {
      vlan: vlan ?? null,
      address: address ?? null,
      mac: macOfLeg(site, vlan),
      network: typeof vlan === "number" ? vlanNetwork(site.range.number, vlan).text : null,
      first: pool?.first ?? null,
      last: pool?.last ?? null,
    }
  })

/**
 * The variable `rangewright` of a built-in playbook: the host, the stage's input, and values that only the hypervisor and the range's
 * number provide. `newPassword`: the one that the machine's login is to have afterwards.
 */
export const stageVariables = (task: Pick<GuestTask, "stage" | "os" | "input">, site: StageSite, newPassword?: string): Json => {
  const input = fieldsOf(task.input)
  const outer = site.detail.nics.find(({ index }) => index === (input["interface"] ?? 0))
  return {
    host: site.target.name,
    os: task.os,
    mac: outer?.mac.toLowerCase() ?? null,
    same_machine: sameMachineCommand(task.os, site.detail, site.target.address),
    ...(task.stage === "router"
      ? { legs: legsOf(site, input["legs"]), network: rangeNetwork(site.range.number).text, vpn: vpnNetwork.text }
      : {}),
    ...(newPassword === undefined ? {} : { new_password: newPassword }),
    input,
  }
}

/** The address that a stage gives its machine, without the prefix length. */
export const addressSet = ({ stage, input }: Pick<GuestTask, "stage" | "input">): string | undefined => {
  if (stage !== "address" && stage !== "router") return undefined
  const { address } = fieldsOf(input)
  return typeof address === "string" ? address.split("/")[0] : undefined
}

/** The role that a stage runs. */
export const roleOf = ({ input }: Pick<GuestTask, "input">): string | undefined => {
  const { role } = fieldsOf(input)
  return typeof role === "string" ? role : undefined
}
