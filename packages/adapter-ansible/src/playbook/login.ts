import { passwordContext, type RangeId, type Vmid } from "@rangewright/domain"
import type { GuestFault, GuestTask, KeptLogin, Machines, SecretStore, StorageFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { randomInt } from "node:crypto"

/** The machine answered and refused the login: nothing was done in it. */
export class LoginRefused extends Data.TaggedError("LoginRefused")<{ readonly fault: GuestFault }> {}

/** A password, opened; undefined is that of the template. */
type Password = string | undefined

/** What is known of a machine's login, opened. */
export interface KnownLogin {
  readonly current: Password
  readonly pending: Password
}

/** How one try of a stage gets in, and what it leaves behind. */
export interface LoginTry {
  readonly inUse: Password
  /** The password to be set by the stage, last of all; absent: it stays as it is. */
  readonly set?: { readonly password: Password }
  /** Whatever the machine may have after it, for what must not be printed. */
  readonly secrets: readonly string[]
}

interface LoginPorts {
  readonly machines: Pick<Context.Service.Shape<typeof Machines>, "keepLogin" | "logins">
  readonly secrets: Context.Service.Shape<typeof SecretStore>
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** 24 letters and digits from a cryptographic source, after what the complexity rules of Windows ask for. */
const newPassword = (): string => `Rw1-${Array.from({ length: 24 }, () => letters[randomInt(letters.length)]).join("")}`

/** What is known of the logins of a range's machines. */
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

/** Stages that see to the machine's login. A system whose password nothing here can set keeps its template's. */
const passwordKindOf = ({ stage, os, input }: GuestTask): "generated" | "template" | undefined => {
  if ((stage !== "address" && stage !== "router") || os === "macos") return undefined
  return Object(input).login === "generated" ? "generated" : "template"
}

/**
 * What is known of the login after a stage that left it with this password. A machine with its template's password may have had another one,
 * and may have it again after a rollback: it stays known, and the next stage that sets one sets the same.
 */
const leftBy = (password: Password, before: KnownLogin): KnownLogin => ({
  current: password,
  pending: password === undefined ? (before.current ?? before.pending) : undefined,
})

/**
 * Performs a stage with the login that the machine has now, and gives it the one that the stage is to leave. The new password is kept before
 * it is set and counts once it was used or set, so that a stage that was cut short anywhere leaves a machine that the next one gets into:
 * where one login is refused, the next that the machine may have is tried. A refused try has done nothing.
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
