import {
  type AccessChange,
  AccessChangeJson,
  type AccessPlan,
  type AccountId,
  aboutToHold,
  accountIdOf,
  changeText,
  heldRestored,
  heldWithPassword,
  phasesOf,
  stillWanted,
  takeBack,
  timing,
  userPasswordContext,
  workPlan,
} from "@rangewright/domain"
import { AccessRecords, HypervisorAccess, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { runKind } from "@rangewright/run-engine"
import { work, type WorkStep } from "@rangewright/run-engine"
import { compareAccess, readDesired, readDesiredFor } from "./compare.ts"
import { changeHeld } from "./change-held.ts"

/** Records what is about to be put on the hypervisor before anything is: what a crash leaves there is then known. */
const note = work({
  name: "note-access",
  input: Schema.Array(AccessChangeJson),
  settle: (changes) =>
    Effect.gen(function* () {
      const desired = yield* readDesired
      yield* changeHeld((held) => aboutToHold(held, desired, changes))
      return {}
    }),
})

/** The password that an account should have, and its version; undefined: the store has none. */
const passwordOf = (account: AccountId) =>
  Effect.gen(function* () {
    const users = yield* Users
    const records = yield* AccessRecords
    const secrets = yield* SecretStore
    const { users: stored } = yield* records.withoutMachines
    // read before the password: if that is newer, the older version is recorded, and the password is set again
    const version = stored.find((user) => user.account === account)?.passwordVersion
    const user = (yield* users.list).find((one) => accountIdOf(one) === account)
    const sealed = user === undefined ? undefined : (yield* users.forAuthentication(user.id))?.secrets.sealedPassword
    if (user === undefined || sealed === undefined) return { version, password: undefined }
    const password = yield* secrets.open(sealed, userPasswordContext(user.id))
    return { version, password: Redacted.make(password, { label: "password" }) }
  })

const givesPassword = (
  change: AccessChange,
): change is Extract<AccessChange, { readonly kind: "create-account" | "set-password" }> =>
  change.kind === "create-account" || change.kind === "set-password"

const givesOnVnet = (change: AccessChange): boolean => change.kind === "grant" && change.place.type === "vnet"

/** One change of a plan, skipped if it is no longer wanted when its turn comes. */
const change = work({
  name: "change-access",
  input: AccessChangeJson,
  settle: (planned) =>
    Effect.gen(function* () {
      const access = yield* HypervisorAccess
      const wanted = stillWanted(planned, yield* readDesiredFor(planned))
      if (wanted === undefined) return { changed: false }
      if (givesPassword(wanted)) {
        const { version, password } = yield* passwordOf(wanted.account)
        // its user was removed meanwhile
        if (wanted.kind === "set-password" && password === undefined) return { changed: false }
        yield* access.apply(wanted, password)
        if (version !== undefined) yield* changeHeld((held) => heldWithPassword(held, wanted.account, version))
      } else {
        yield* access.apply(wanted)
        if (wanted.kind === "restore") yield* changeHeld((held) => heldRestored(held, wanted.account))
      }
      // a worker that was paused may have come too late
      const after = takeBack(wanted, yield* readDesiredFor(wanted))
      yield* Effect.forEach(after, (one) => access.apply(one), { discard: true })
      return { changed: true }
    }),
})

/** The end of a phase. */
const end = work({ name: "end-phase", input: Schema.Struct({}), settle: () => Effect.succeed({}) })

/** All these changes write one cluster file, whose lock gives up after some seconds of waiting: few at a time. */
const uses: WorkStep["uses"] = [{ resource: "access", slots: 4 }]

/** Rights are revoked before any are granted; a failed change does not stop the others. */
const stepsOf = (plan: AccessPlan) => {
  const phases = phasesOf(plan)
  const noted = note.step(
    { key: "note", title: "Record what is about to change", estimate: timing.look },
    phases.flat().filter((one) => givesPassword(one) || givesOnVnet(one)),
  )
  let after = [noted.key]
  const steps = phases.flatMap((changes, phase) => {
    const made = changes.map((one, index) =>
      change.step(
        { key: `${phase}-${index}`, title: changeText(one), after, uses, estimate: timing.grant, tolerated: true },
        one,
      ),
    )
    if (made.length === 0) return []
    // one step for the next phase to wait for, instead of a dependency of each of its steps on each step of this phase
    const over = end.step({ key: `${phase}-over`, title: "Continue", after: made.map(({ key }) => key), estimate: 0 }, {})
    after = [over.key]
    return [...made, over]
  })
  return steps.length === 0 ? [] : [noted, ...steps]
}

/** Brings accounts, groups, pools and rights on the hypervisor in line with what is stored. Only one such run exists at a time. */
export const accessRun = runKind({
  name: "reconcile-access",
  doing: "a change of access",
  request: Schema.Struct({}),
  whenBusy: "join",
  plan: () =>
    Effect.map(compareAccess, ({ plan, changes }) =>
      workPlan(stepsOf(plan), {
        changes: changes.map((one) => ({ kind: "change", object: changeText(one), reasons: ["it differs from what is stored"] })),
        notes: plan.notes,
      }),
    ),
  works: [note, change, end],
})
