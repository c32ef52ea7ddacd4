import { passwordContext, type RangeId, type Vmid } from "@rangewright/domain"
import type { GuestFault, GuestTask, KeptLogin, Machines, SecretStore, StorageFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { randomInt } from "node:crypto"

/** The machine answered and refused the login: nothing was done in it. */
export class LoginRefused extends Data.TaggedError("LoginRefused")<{ readonly fault: GuestFault }> {}

/** A decrypted password; undefined means the template's. */
type Password = string | undefined

/** Decrypted logins known for a machine. */
export interface KnownLogin {
  readonly current: Password
  readonly pending: Password
}

/** One attempt of a stage: the login it uses, and the one it sets. */
export interface LoginTry {
  readonly inUse: Password
  /** The password for the stage to set as its last step; absent when it stays unchanged. */
  readonly set?: { readonly password: Password }
  /** Every password the machine may have afterwards, to be masked in output. */
  readonly secrets: readonly string[]
}

interface LoginPorts {
  readonly machines: Pick<Context.Service.Shape<typeof Machines>, "keepLogin" | "logins">
  readonly secrets: Context.Service.Shape<typeof SecretStore>
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** 24 letters and digits from a cryptographic source, after a prefix that satisfies the complexity rules of Windows. */
const newPassword = (): string => `Rw1-${Array.from({ length: 24 }, () => letters[randomInt(letters.length)]).join("")}`

/** The known logins of a range's machines. */
export const knownLogins = ({ machines, secrets }: LoginPorts, rangeId: RangeId) =>
  Effect.gen(function* () {
    const open = (sealed: string | undefined, vmid: Vmid) =>
      sealed === undefined ? Effect.undefined : secrets.open(sealed, passwordContext(rangeId, vmid))
    const kept = yield* machines.logins(rangeId)
    const opened = yield* Effect.forEach(kept, ([vmid, { current, pending }]) =>
      Effect.map(Effect.all({ current: open(current, vmid), pending: open(pending, vmid) }), (login) => [vmid, login] as const),
    )
    return new Map<Vmid, KnownLogin>(opened)
  })

/** Stages that set the machine's login. A system whose password cannot be set keeps its template's. */
const passwordKindOf = ({ stage, os, input }: GuestTask): "generated" | "template" | undefined => {
  if ((stage !== "address" && stage !== "router") || os === "macos") return undefined
  return Object(input).login === "generated" ? "generated" : "template"
}

/**
 * What is known of the login after a stage that left it with this password. A machine with its template's password may have had another
 * one, and may have it again after a rollback: it is remembered, and the next stage that sets one sets the same.
 */
const leftBy = (password: Password, before: KnownLogin): KnownLogin => ({
  current: password,
  pending: password === undefined ? (before.current ?? before.pending) : undefined,
})

/**
 * Runs a stage with the machine's current login, and sets the one that it is to leave. The new password is stored before it is set, and
 * becomes current once it was used or set, so that a stage interrupted at any point leaves a machine that the next one can log in to: when
 * one login is refused, the next possible one is tried. A refused try has done nothing.
 */
export const withLogin = <A>(
  { machines, secrets }: LoginPorts,
  rangeId: RangeId,
  task: GuestTask,
  known: KnownLogin,
  attempt: (login: LoginTry) => Effect.Effect<A, GuestFault | LoginRefused>,
): Effect.Effect<A, GuestFault | StorageFault> =>
  Effect.gen(function* () {
    const { vmid } = task.machine
    const seal = (password: Password) =>
      password === undefined ? undefined : secrets.seal(password, passwordContext(rangeId, vmid))
    const keep = (login: KnownLogin) => {
      const sealed: KeptLogin = { current: seal(login.current), pending: seal(login.pending) }
      return machines.keepLogin(rangeId, vmid, sealed)
    }
    const kind = passwordKindOf(task)
    const next = kind === "generated" ? (known.current ?? known.pending ?? newPassword()) : undefined
    let kept = known
    if (next !== undefined && next !== known.current && next !== known.pending) {
      kept = { ...known, pending: next }
      yield* keep(kept)
    }
    const possible = kept.current === undefined ? [undefined, kept.pending] : [kept.current, kept.pending, undefined]
    const tries = possible.filter((password, at) => possible.indexOf(password) === at)
    let refused: LoginRefused | undefined
    for (const inUse of tries) {
      const set = kind === undefined || next === inUse ? {} : { set: { password: next } }
      const spoken = [kept.current, kept.pending].filter((password) => password !== undefined)
      const done = yield* attempt({ inUse, ...set, secrets: spoken }).pipe(
        Effect.asSome,
        Effect.catchTag("LoginRefused", (error) => {
          refused ??= error
          return Effect.succeedNone
        }),
      )
      if (done._tag === "None") continue
      const left = leftBy(kind === undefined ? inUse : next, kept)
      if (kept.current !== left.current || kept.pending !== left.pending) yield* keep(left)
      return done.value
    }
    return yield* refused!.fault
  })
