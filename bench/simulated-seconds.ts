/** Duration of a step of a first deploy on the simulator, for bounds that hold there: its own figures, not the planner's estimates. */
import type { GuestOs, GuestStage, Json, Plan, Step } from "@rangewright/domain"
import { defaultTiming as timing } from "@rangewright/pve-simulator"

const stageMillis = (stage: GuestStage, os: GuestOs, input: Json): number => {
  switch (stage) {
    case "address":
      return os === "windows" ? timing.addressWindows : timing.addressLinux
    case "router":
      return timing.router
    case "firewall":
      return timing.firewall
    case "dns":
      return timing.dns
    case "sysprep":
      return timing.sysprep
    case "windows-base":
      return timing.windowsBase
    case "primary-dc":
      return timing.primaryDc
    case "alt-dc":
      return timing.additionalDc
    case "domain-join":
      return timing.domainJoin
    case "packages":
      return timing.packages
    case "additional-tools":
      return timing.additionalTools
    case "chocolatey":
      return timing.chocolateyPackage * packagesIn(input)
    case "office":
      return timing.office
    case "visual-studio":
      return timing.visualStudio
    case "windows-update":
      throw new Error("no deploy updates Windows")
    case "anti-sandbox":
      throw new Error("no first deploy disguises machines")
    case "inspect-router":
      throw new Error("no deploy inspects routers")
    case "inspect-windows":
    case "activate-windows":
    case "kms-server":
      throw new Error("no deploy activates Windows")
    case "role":
      return timing.role
  }
}

const packagesIn = (input: Json): number =>
  typeof input === "object" && input !== null && "packages" in input && Array.isArray(input.packages)
    ? Math.max(1, input.packages.length)
    : 1

const millis = ({ key, machine, action }: Step, osOf: ReadonlyMap<string | undefined, GuestOs>): number => {
  switch (action.kind) {
    // one record each, written before the call is answered
    case "create-pool":
    case "grant-access":
    case "configure":
    case "record-testing":
    case "record-disguises":
    case "refuse":
    case "work":
      return 0
    case "take-snapshot":
    case "roll-back":
    case "remove-snapshot":
      return timing.snapshotTask
    case "create-network":
      return action.network.type === "vnet" ? timing.sdnApply : timing.networkReload
    case "clone":
      return timing.linkedClone
    case "start":
      if (!action.untilAgent) return timing.startTask
      return osOf.get(machine) === "windows" ? timing.bootWindows : timing.bootLinux
    case "guest":
      return stageMillis(action.stage, action.os, action.input)
    case "await-address":
    case "delete":
    case "remove-network":
    case "remove-pool":
    case "shutdown":
    case "stop":
      throw new Error(`the step ${key} is not one of a first deploy`)
  }
}

/** The plan with the simulator's durations in place of the estimates. */
export const onSimulatedTime = (plan: Pick<Plan, "steps">): Pick<Plan, "steps"> => {
  const osOf = new Map(plan.steps.flatMap(({ machine, action }) => (action.kind === "guest" ? [[machine, action.os]] : [])))
  return { steps: plan.steps.map((step) => ({ ...step, estimate: millis(step, osOf) / 1000 })) }
}
