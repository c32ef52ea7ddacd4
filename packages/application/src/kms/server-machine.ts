import { Conflict, type Fault, type KmsServer, type Range } from "@rangewright/domain"
import { Machines, type RangeMachine, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * Whether an owner of the range is an administrator; without a direct owner, whether its creator is. Range IDs are reused: a range that a
 * user created under an administrator's old ID gets neither the key nor clients.
 */
const isAdministrators = Effect.fnUntraced(function* ({ id, createdBy }: Range) {
  const users = yield* Users
  const ranges = yield* Ranges
  const direct = (yield* ranges.grants(id)).flatMap((grant) => (grant.accessType === "Direct" ? [grant.userId] : []))
  const owners = direct.length === 0 && createdBy !== undefined ? [createdBy] : direct
  return (yield* Effect.forEach(owners, users.find)).some((owner) => owner?.isAdmin === true)
})

/** Fails unless the range belongs to an administrator: it may have been given away since it got a KMS host. */
export const requireAdministrators = Effect.fnUntraced(function* (range: Range, doing: string) {
  if (yield* isAdministrators(range)) return
  return yield* new Conflict({
    what: `Cannot ${doing}: no owner of the range is an administrator`,
    hint: "Use a machine in a range of an administrator's, or give an administrator this range.",
  })
})

/** The configured machine (kms_server) and its range; fails when it does not exist, or its range belongs to no administrator. */
export const kmsServerMachine = (
  { range: id, machine: name }: KmsServer,
  doing: string,
): Effect.Effect<{ readonly machine: RangeMachine; readonly range: Range }, Fault, Machines | Ranges | Users> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const machines = yield* Machines
    const refuse = (because: string, hint: string) =>
      new Conflict({ what: `Cannot ${doing}: kms_server is ${id}/${name}, and ${because}`, hint })
    const range = yield* ranges.find(id)
    if (range === undefined)
      return yield* refuse(`there is no range ${id}`, "Create the range, or set another machine in the configuration.")
    if (!(yield* isAdministrators(range)))
      return yield* refuse(
        `no owner of range ${id} is an administrator`,
        "Use a machine of an administrator's range: any user can create a range with a free ID.",
      )
    const named = (yield* machines.ofRange(id)).filter((machine) => machine.name === name)
    const [machine] = named
    if (machine !== undefined && named.length === 1) return { machine, range }
    return yield* named.length === 0
      ? refuse(`range ${id} has no machine ${name}`, "Deploy it, or set another one, with the name that GET /range shows.")
      : refuse(`range ${id} has ${named.length} machines with this name`, "Remove all but one, or rename them.")
  })
