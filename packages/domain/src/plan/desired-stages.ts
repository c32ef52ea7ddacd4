import type { MachineConfig } from "../range/config/index.ts"
import type { GuestOs, GuestStage, Json } from "./action.ts"
import type { DeployTag } from "./plan.ts"
import { disguiseOf, type DomainPlace, type StageContext } from "./stage-context.ts"
import * as inputs from "./stage-inputs.ts"
import { roleKey, stageKey } from "./stage-keys.ts"

/** A stage inside a machine, as the configuration wants it. */
export interface DesiredStage {
  /** Unique in the range. */
  readonly key: string
  readonly stage: GuestStage
  readonly os: GuestOs
  /** For people; also the task name in the log. */
  readonly title: string
  /** The first is the stage's own tag; each of them selects the stage. */
  readonly tags: readonly [DeployTag, ...DeployTag[]]
  /** The role's name, for roles. */
  readonly role: string | undefined
  /** Everything the stage needs; its effect follows from this alone. */
  readonly input: Json
  /** How many things it installs. */
  readonly items: number
  /** Stages of other machines that must be over first. Those of its own machine run in order anyway. */
  readonly needs: readonly string[]
  /** A stage of another machine that this one's effect depends on: when that one runs from scratch, so does this one. */
  readonly renewedBy: string | undefined
}

type OwnStage = Exclude<GuestStage, "role">
type Draft = Pick<DesiredStage, "title" | "tags" | "input"> &
  Partial<Pick<DesiredStage, "items" | "needs" | "renewedBy">> & { readonly stage: OwnStage }

const finish =
  (machine: string, os: GuestOs) =>
  (draft: Draft): DesiredStage => ({
    items: 1,
    needs: [],
    renewedBy: undefined,
    role: undefined,
    ...draft,
    key: stageKey(draft.stage, machine),
    os,
  })

const isController = (place: DomainPlace | undefined): boolean => place !== undefined && place.role !== "member"

/** False: nothing waits for the machine's guest agent, and only roles run in it. A domain controller is always managed. */
export const isManaged = (context: StageContext, machine: MachineConfig): boolean =>
  !machine.unmanaged || isController(context.placeOf(machine))

/** What happens inside a machine of a range, in order. */
export const machineStages = (context: StageContext, machine: MachineConfig): readonly DesiredStage[] => {
  const name = context.nameOf(machine.name)
  const own = isManaged(context, machine) ? hostStages(context, machine, name) : []
  return [...own.map(finish(name, machine.os.kind)), ...roleStages(context, name, machine)]
}

/** What happens inside the router, in order. */
export const routerStages = (context: StageContext, hostname: string): readonly DesiredStage[] => {
  const name = context.routerName
  const drafts: readonly Draft[] = [
    { stage: "router", title: `Set up routing on ${name}`, tags: ["network"], input: inputs.router(context, hostname) },
    {
      stage: "firewall",
      title: `Load firewall rules on ${name}`,
      tags: ["access-control", "network"],
      input: inputs.firewall(context),
    },
    { stage: "dns", title: `Update DNS records on ${name}`, tags: ["dns-rewrites"], input: inputs.dns(context) },
  ]
  return [...drafts.map(finish(name, "linux")), ...roleStages(context, name, undefined)]
}

/** Stages that need the internet or DNS wait for the router's last own stage. */
const outside = (context: StageContext): readonly string[] => [stageKey("dns", context.routerName)]

const hostStages = (context: StageContext, machine: MachineConfig, name: string): readonly Draft[] => {
  const { os } = machine
  const address: Draft = {
    stage: "address",
    title: `Set address and host name of ${name}`,
    tags: ["assign-ip"],
    input: inputs.address(context, machine),
    // a new router forwards nothing before its rules are loaded
    needs: context.input.settings.guestsOverNetwork === true ? [stageKey("firewall", context.routerName)] : [],
  }
  if (os.kind === "windows") return [address, ...windowsStages(context, machine, os, name)]
  if (os.kind === "macos" || os.packages.length === 0) return [address]
  const packages: Draft = {
    stage: "packages",
    title: `Install packages on ${name}`,
    tags: ["linux-packages"],
    input: { packages: os.packages },
    items: os.packages.length,
    needs: outside(context),
  }
  return [address, packages]
}

const windowsStages = (context: StageContext, machine: MachineConfig, os: inputs.Windows, name: string): readonly Draft[] => {
  const place = context.placeOf(machine)
  const sysprep: Draft = {
    stage: "sysprep",
    title: `Sysprep ${name}`,
    tags: ["sysprep"],
    input: { hostname: context.nameOf(machine.hostname) },
  }
  const base: Draft = {
    stage: "windows-base",
    title: `Apply common Windows settings to ${name}`,
    tags: isController(place) ? ["dcs"] : ["windows"],
    input: inputs.windowsBase(context, machine, os),
  }
  const { before, after } = installations(context, os, name)
  const disguise = disguiseOf(context, machine)
  const antiSandbox: Draft = {
    stage: "anti-sandbox",
    title: disguise === undefined ? `Remove the disguise of ${name}` : `Disguise ${name} as a ${disguise.vendor} computer`,
    tags: ["windows"],
    input: inputs.antiSandbox(disguise),
  }
  return [
    ...(os.sysprep ? [sysprep] : []),
    base,
    ...(place !== undefined && isController(place) ? [controllerStage(context, machine, os, place, name)] : []),
    ...before,
    ...(place?.role === "member" ? [joinStage(context, machine, place, name)] : []),
    ...after,
    ...(disguise !== undefined || wasDisguised(context, name) ? [antiSandbox] : []),
  ]
}

/** Whether the stage has run in the machine, so that there is something to undo. */
const wasDisguised = ({ input: { world } }: StageContext, name: string): boolean =>
  [...world.stages.values()].some((stages) => stages.has(stageKey("anti-sandbox", name)))

const controllerStage = (
  context: StageContext,
  machine: MachineConfig,
  os: inputs.Windows,
  place: DomainPlace,
  name: string,
): Draft =>
  place.role === "primary-dc"
    ? {
        stage: "primary-dc",
        title: `Create domain ${place.fqdn} on ${name}`,
        tags: ["dcs"],
        input: inputs.primaryController(context, machine, os, place),
      }
    : {
        stage: "alt-dc",
        title: `Add domain controller ${name} to ${place.fqdn}`,
        tags: ["dcs"],
        input: inputs.additionalController(context, machine, os, place),
        ...fromDomain(context, machine, place),
      }

const joinStage = (context: StageContext, machine: MachineConfig, place: DomainPlace, name: string): Draft => ({
  stage: "domain-join",
  title: `Join ${name} to ${place.fqdn}`,
  tags: ["domain-join"],
  input: inputs.domainJoin(context, machine, place),
  ...fromDomain(context, machine, place),
})

/** The domain must exist and be reachable; from another VLAN, that takes the router and its firewall. */
const fromDomain = (
  context: StageContext,
  machine: MachineConfig,
  { primary }: DomainPlace,
): Pick<DesiredStage, "needs" | "renewedBy"> => {
  if (primary === undefined) return { needs: [], renewedBy: undefined }
  const across = primary.machine.vlan === machine.vlan ? [] : [stageKey("firewall", context.routerName)]
  return { needs: [primary.key, ...across], renewedBy: primary.key }
}

/** Programs that are installed before and after the machine joins its domain. */
const installations = (
  context: StageContext,
  os: inputs.Windows,
  name: string,
): { readonly before: readonly Draft[]; readonly after: readonly Draft[] } => {
  const needs = outside(context)
  const before: Draft[] = []
  const after: Draft[] = []
  if (os.additionalTools)
    before.push({
      stage: "additional-tools",
      title: `Install additional tools on ${name}`,
      tags: ["additional-tools"],
      input: { ignore_checksums: os.ignorePackageChecksums },
      needs,
    })
  if (os.packages.length > 0)
    before.push({
      stage: "chocolatey",
      title: `Install Chocolatey packages on ${name}`,
      tags: ["custom-choco"],
      input: { packages: os.packages, ignore_checksums: os.ignorePackageChecksums },
      items: os.packages.length,
      needs,
    })
  if (os.office !== undefined)
    after.push({
      stage: "office",
      title: `Install Office ${os.office.version} on ${name}`,
      tags: ["install-office"],
      input: { version: os.office.version, arch: os.office.arch },
      needs,
    })
  if (os.visualStudio !== undefined)
    after.push({
      stage: "visual-studio",
      title: `Install Visual Studio ${os.visualStudio} on ${name}`,
      tags: ["install-visual-studio"],
      input: { version: os.visualStudio },
      needs,
    })
  return { before, after }
}

/** The roles of one machine, in an order that fits that of the whole range; `machine` is undefined for the router. */
const roleStages = (context: StageContext, name: string, machine: MachineConfig | undefined): readonly DesiredStage[] => {
  return context.rolesOf(name).map(({ role, needs }) => ({
    key: roleKey(name, role),
    stage: "role",
    os: machine?.os.kind ?? "linux",
    title: `Run role ${role} on ${name}`,
    tags: machine === undefined ? ["network"] : ["user-defined-roles"],
    role,
    input: inputs.role(context, machine, role),
    items: 1,
    needs: [...(machine === undefined ? [] : outside(context)), ...needs.map((n) => roleKey(n.machine, n.role))],
    renewedBy: undefined,
  }))
}
