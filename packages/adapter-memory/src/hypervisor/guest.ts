import { carriesMark, stageFingerprint } from "@rangewright/domain"
import { GuestAutomation, GuestFault, type GuestTask, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { awaitTask, beginTask, calledGuest, changeVm, type MemoryWorld } from "./memory-world.ts"

const identityOf = ({ stage, input }: GuestTask): string => `${stage} ${stageFingerprint(input)}`

/** The address that a stage sets, without the prefix length. */
const addressIn = ({ stage, input }: GuestTask): string | undefined => {
  if (stage !== "address" && stage !== "router") return undefined
  if (typeof input !== "object" || input === null || !("address" in input)) return undefined
  return typeof input.address === "string" ? input.address.split("/")[0] : undefined
}

export const guestLayer = (world: MemoryWorld): Layer.Layer<GuestAutomation> => {
  const fault = (task: GuestTask, reason: "away" | "failed", detail: string) =>
    new GuestFault({ doing: `run the stage ${task.stage}`, machine: task.name, reason, detail })
  const call = (method: string, mutating: boolean, { machine, os, stage, input }: GuestTask) => ({
    port: "guest" as const,
    method,
    mutating,
    action: { kind: "guest" as const, machine, os, stage, input },
  })

  const guestOf = Effect.fnUntraced(function* (task: GuestTask) {
    const { vmid, mark } = task.machine
    const vm = world.vms.get(vmid)
    if (vm === undefined || !carriesMark(vm.description, mark))
      return yield* fault(task, "failed", `VM ${vmid} is not this machine`)
    const now = yield* monotonicMillis
    if (vm.agentAt === undefined || vm.agentAt > now) return yield* fault(task, "away", "its guest agent does not answer")
    return vm
  })

  return Layer.succeed(GuestAutomation, {
    get overNetwork() {
      return world.guestsOverNetwork
    },
    obstacles: () => Effect.sync(() => world.guestObstacles),
    roles: () => Effect.sync(() => world.roles),
    ownRoles: () => Effect.sync(() => world.ownRoles),
    dispatch: (task) =>
      calledGuest(
        world,
        call("dispatch", true, task),
        task.name,
        Effect.gen(function* () {
          const vm = yield* guestOf(task)
          const identity = identityOf(task)
          if (vm.stages.has(identity)) return { token: null }
          const address = addressIn(task)
          changeVm(world, vm.vmid, {
            stages: new Map(vm.stages).set(identity, 1),
            ...(address === undefined ? {} : { addresses: [address] }),
          })
          return { token: yield* beginTask(world, `${vm.vmid} ${identity}`, undefined, world.durations.stage) }
        }),
      ),
    settle: (task, token) =>
      calledGuest(
        world,
        call("settle", false, task),
        task.name,
        Effect.gen(function* () {
          yield* awaitTask(world, token)
          const vm = yield* guestOf(task)
          if (!vm.stages.has(identityOf(task))) return yield* fault(task, "away", "the stage is not known to have run")
          const address = addressIn(task)
          const report = task.stage === "inspect-router" ? world.routerReport : world.windowsReport(task.stage, task.name)
          const facts = {
            changed: token !== null,
            ...(address === undefined ? {} : { address }),
            ...(report === undefined ? {} : { data: { report } }),
          }
          return { facts, output: world.print(task.stage, task.name, task.input) }
        }),
      ),
  })
}
