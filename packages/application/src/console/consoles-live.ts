import { Failed, Forbidden, groupBy, type User, type UserId } from "@rangewright/domain"
import {
  AuditTrail,
  type ByteChannel,
  type ConsoleRef,
  type ConsoleTicket,
  ConsoleTickets,
  CredentialHasher,
  MachineConsole,
  Machines,
  monotonicMillis,
  Ranges,
  type StorageFault,
  Users,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { audited, type Told } from "../access/audited.ts"
import { countUse } from "../access/count-use.ts"
import { machineFor } from "../access/machine-for.ts"
import { Activity } from "../activity.ts"
import type { Page, RequestMeta } from "../operation/request-meta.ts"
import type { SocketEnd, SocketSession } from "../operation/socket.ts"
import { Settings, usualConsolesPerUser } from "../settings.ts"
import { Consoles } from "./consoles.ts"
import { makeInputWatch } from "./input-watch.ts"
import { admitViewer } from "./viewer.ts"

/** A browser opens the socket at once; this allows for slow ones. */
const ticketMillis = 30_000
/** 43 letters and digits are 256 bits. They need no escaping in an address. */
const ticketLength = 43
const ticketForm = /^[0-9A-Za-z]{43}$/u
/** Length of the password in letters and digits: VNC ignores the rest. */
const passwordLength = 8
/** Time for a viewer to log in. */
const loginTime = "30 seconds"
/** How often open consoles are checked for whether they may stay open. */
const lookEvery = "1 second"
/** A console whose rights could not be checked for this long is closed. */
const blindMillis = 30_000
/** Timeout of a check when the store does not answer. */
const lookTime = "5 seconds"
/** Concurrent checks of rights. */
const looksAtOnce = 8

/** Close codes of web sockets (RFC 6455, 7.4.1). */
const codes = { done: 1000, refused: 1008, failed: 1011 } as const

const operation = "vmConsoleWebsocketHandler"
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"

/** An open console. */
interface Session {
  readonly ticket: ConsoleTicket
  /** The record IDs of both users: another user with the same ID is somebody else. */
  readonly callerRecord: string
  readonly userRecord: string
  /** The caller's credentials when the console was opened: replacing them is meant to lock somebody out. */
  readonly credentials: string
  readonly over: Deferred.Deferred<SocketEnd>
  /** When it was last found that it may stay open (`monotonicMillis`). */
  seenAt: number
}

const pump = (
  from: ByteChannel,
  to: ByteChannel,
  end: SocketEnd,
  look: (bytes: Uint8Array) => Effect.Effect<void> = () => Effect.void,
): Effect.Effect<SocketEnd> =>
  Effect.gen(function* () {
    for (let bytes = yield* from.receive; bytes !== undefined; bytes = yield* from.receive) {
      yield* look(bytes)
      yield* to.send(bytes)
    }
    return end
  })

/**
 * A page may use the tickets that it requested. A ticket that no page requested may be used without a page, or by pages of the service's
 * own origin and those that the operator named.
 */
const mayOpen = ({ origin }: ConsoleTicket, page: Page | undefined): boolean =>
  origin === undefined ? (page?.isKnown ?? true) : page?.origin === origin

const unusable = new Forbidden({
  reason: "The console's ticket is unknown, was used before, or has expired",
  hint: "Ask for a new one (GET /vm/console/ticket), and open the console within 30 seconds.",
})

const make = Effect.gen(function* () {
  const activity = yield* Activity
  const consoles = yield* MachineConsole
  const tickets = yield* ConsoleTickets
  const hasher = yield* CredentialHasher
  const trail = yield* AuditTrail
  const users = yield* Users
  const services = yield* Effect.context<Machines | Ranges>()
  const { consolesPerUser = usualConsolesPerUser } = yield* Settings
  const sessions = new Set<Session>()
  /** The number of consoles of a user that are open or being opened. */
  const taken = new Map<UserId, number>()

  const machineOf = (user: User, vmid: number) => Effect.provideContext(machineFor(user, vmid), services)

  /** The password is derived from the ticket with a hash, so neither has to be stored. */
  const passwordOf = (ticket: string): string =>
    (hasher.hash(`console password ${ticket}`).match(/../gu) ?? [])
      .slice(0, passwordLength)
      .map((byte) => alphabet[Number.parseInt(byte, 16) % alphabet.length])
      .join("")

  const tooMany = (user: UserId): Forbidden | undefined =>
    (taken.get(user) ?? 0) < consolesPerUser
      ? undefined
      : new Forbidden({
          reason: `${user} has ${consolesPerUser} consoles open, the maximum for one user`,
          hint: "Close some of them; the setting consoles_per_user raises the limit.",
        })

  const count = (user: UserId, by: number): void => {
    const now = (taken.get(user) ?? 0) + by
    if (now === 0) taken.delete(user)
    else taken.set(user, now)
  }

  /** For the holder of a ticket, any refusal by the hypervisor means that the console is not available. */
  const screenOf = (place: ConsoleRef) =>
    Effect.mapError(consoles.open(place, hasher.vncAnswer), (fault) =>
      fault.kind === "unavailable"
        ? fault
        : new Failed({ what: fault.message, hint: "Ask for a new ticket (GET /vm/console/ticket)." }),
    )

  /** Both users of a ticket, and the machine; fails unless they exist and the users may open its console. */
  const admitted = (ticket: ConsoleTicket) =>
    Effect.gen(function* () {
      const [user, known] = [yield* users.find(ticket.userId), yield* users.forAuthentication(ticket.callerId)]
      if (user === undefined || known === undefined) return yield* unusable
      const { user: caller, secrets } = known
      if (caller.id !== user.id && !caller.isAdmin)
        return yield* new Forbidden({ reason: `${caller.id} is no longer an administrator, and cannot act as ${user.id}` })
      const { machine, range } = yield* machineOf(user, ticket.vmid)
      if (range.id !== ticket.rangeId)
        return yield* new Forbidden({ reason: `VM ${ticket.vmid} is no longer in range ${ticket.rangeId}` })
      return { user, caller, machine, credentials: `${secrets.apiKeyHash ?? ""} ${secrets.tokenKey}` }
    })

  /** Why an open console must close; undefined: it may stay. */
  const reasonToClose = (session: Session): Effect.Effect<string | undefined, StorageFault> =>
    admitted(session.ticket).pipe(
      Effect.map(({ user, caller, credentials }) => {
        if (user.recordId !== session.userRecord || caller.recordId !== session.callerRecord) return "the user was removed"
        return credentials === session.credentials ? undefined : `the credentials of ${caller.id} were replaced`
      }),
      Effect.catchTags({
        Forbidden: ({ message }) => Effect.succeed(message),
        NotFound: ({ message }) => Effect.succeed(message),
      }),
    )

  const close = (session: Session, code: number, reason: string) => Deferred.succeed(session.over, { code, reason })

  const keyOf = ({ ticket: { callerId, userId, vmid, rangeId }, callerRecord, userRecord, credentials }: Session): string =>
    [callerId, callerRecord, userId, userRecord, vmid, rangeId, credentials].join(" ")

  /** Checks sessions that depend on the same rights. */
  const lookAt = Effect.fnUntraced(function* ([first, ...more]: readonly Session[]) {
    if (first === undefined) return
    const answer = yield* Effect.option(Effect.timeout(reasonToClose(first), lookTime))
    const now = yield* monotonicMillis
    for (const session of [first, ...more]) {
      if (Option.isSome(answer)) {
        session.seenAt = now
        if (answer.value !== undefined) yield* close(session, codes.refused, answer.value)
      } else if (now - session.seenAt > blindMillis)
        yield* close(session, codes.failed, "the store could not be asked whether it may stay open")
    }
  })
  const look = Effect.suspend(() =>
    Effect.forEach([...groupBy(sessions, keyOf).values()], lookAt, { concurrency: looksAtOnce, discard: true }),
  )
  // a defect in one check must not end the checks
  const looked = Effect.catchCause(look, (cause) => Effect.logError("open consoles could not be checked", cause))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookEvery), looked)))

  const toldOf = (
    { callerId, userId, rangeId, vmid }: ConsoleTicket,
    { requestId, remote }: RequestMeta,
    detail: string,
  ): Told => ({
    requestId,
    remote,
    callerId,
    actingAs: userId,
    operation,
    rangeId,
    detail: `vmid=${vmid} ${detail}`,
  })

  /** Counts what somebody does in a console as use of its range: whoever works in one for hours may send no other request. */
  const useIn = ({ callerId, rangeId }: ConsoleTicket) => {
    const hasInput = makeInputWatch()
    return (bytes: Uint8Array) =>
      hasInput(bytes)
        ? Effect.map(Clock.currentTimeMillis, (now) => {
            const at = new Date(now)
            activity.user(callerId, at)
            countUse(activity, rangeId, { at, by: callerId, request: "GET /vm/console/view" })
          })
        : Effect.void
  }

  /** Relays the screen to a viewer that knows the password, until either disconnects or the session is over. */
  const relay = (session: Session, machine: ByteChannel, viewer: ByteChannel, password: string): Effect.Effect<SocketEnd> =>
    Effect.gen(function* () {
      const challenge = new TextEncoder().encode(hasher.randomText(16))
      const admittedViewer = yield* admitViewer(viewer, challenge, (asked) => hasher.vncAnswer(password, asked)).pipe(
        Effect.timeoutOption(loginTime),
        Effect.map(Option.getOrUndefined),
      )
      if (admittedViewer === undefined)
        return { code: codes.refused, reason: "the viewer did not log in with the password of the ticket" }
      return yield* Effect.raceFirst(
        pump(admittedViewer, machine, { code: codes.done, reason: "the viewer has disconnected" }, useIn(session.ticket)),
        pump(machine, admittedViewer, { code: codes.done, reason: "the machine closed its console" }),
      )
    }).pipe(Effect.raceFirst(Deferred.await(session.over)))

  const sessionOver = (
    session: Session,
    machine: ByteChannel,
    scope: Scope.Closeable,
    password: string,
    meta: RequestMeta,
  ): SocketSession => {
    const end = (reason: string) =>
      Effect.gen(function* () {
        sessions.delete(session)
        count(session.ticket.userId, -1)
        yield* Scope.close(scope, Exit.void)
        const at = new Date(yield* Clock.currentTimeMillis)
        const told = toldOf(session.ticket, meta, `closed: ${reason}`)
        yield* Effect.ignore(trail.record({ ...told, at, outcome: "ok" }), { log: "Error" })
      })
    return {
      serve: (viewer) =>
        Effect.onExit(relay(session, machine, viewer, password), (exit) =>
          end(Exit.isSuccess(exit) ? exit.value.reason : "the connection was lost, or the service is stopping"),
        ),
      abandon: end("the viewer left before it was open"),
    }
  }

  return Consoles.of({
    open: () => sessions.size,
    ticket: ({ caller, user, vmid, page }) =>
      Effect.gen(function* () {
        const { machine, range } = yield* machineOf(user, vmid)
        const refusal = tooMany(user.id)
        if (refusal !== undefined) return yield* refusal
        yield* consoles.check({ vmid, node: machine.node, range: range.id }).pipe(
          Effect.catchIf(
            ({ facts }) => facts.reason === "failed" || facts.reason === "not-ours",
            ({ message, hint }) => Effect.fail(new Failed({ what: message, ...(hint === undefined ? {} : { hint }) })),
          ),
        )
        const ticket = hasher.randomText(ticketLength)
        yield* tickets.issue({
          hash: hasher.hash(ticket),
          callerId: caller.id,
          userId: user.id,
          rangeId: range.id,
          vmid,
          origin: page?.origin,
          expiresAt: new Date((yield* Clock.currentTimeMillis) + ticketMillis),
        })
        return { ticket, password: passwordOf(ticket) }
      }),
    view: (text, meta) =>
      Effect.gen(function* () {
        const ticket = ticketForm.test(text) ? yield* tickets.take(hasher.hash(text)) : undefined
        if (ticket === undefined) return yield* unusable
        let opened: SocketSession | undefined
        const open = Effect.gen(function* () {
          if (!mayOpen(ticket, meta.page))
            return yield* new Forbidden({
              reason: `A page of ${meta.page?.origin ?? "no origin"} may not open this console`,
              hint: "A ticket opens a console on the page that asked for it, or on one of the service's own; set cors_origin for further origins.",
            })
          const { user, caller, machine, credentials } = yield* Effect.catchTag(admitted(ticket), "NotFound", () => unusable)
          const refusal = tooMany(user.id)
          if (refusal !== undefined) return yield* refusal
          const place = { vmid: ticket.vmid, node: machine.node, range: ticket.rangeId }
          // not interruptible between the connection and the session that owns it
          return yield* Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              count(user.id, 1)
              const scope = yield* Scope.make()
              const giveBack = Effect.andThen(
                Scope.close(scope, Exit.void),
                Effect.sync(() => count(user.id, -1)),
              )
              const screen = yield* Effect.onError(restore(Scope.provide(screenOf(place), scope)), () => giveBack)
              const session: Session = {
                ticket,
                callerRecord: caller.recordId,
                userRecord: user.recordId,
                credentials,
                over: yield* Deferred.make<SocketEnd>(),
                seenAt: yield* monotonicMillis,
              }
              sessions.add(session)
              opened = sessionOver(session, screen, scope, passwordOf(text), meta)
              return opened
            }),
          )
        })
        const key = hasher.randomText(20)
        // a console that could not be recorded in the audit trail is closed
        return yield* Effect.onError(
          audited(key, () => toldOf(ticket, meta, "opened"), open),
          () => opened?.abandon ?? Effect.void,
        )
      }).pipe(Effect.provideService(AuditTrail, trail)),
  })
})

/** Open consoles belong to this process; tickets are valid in every process. */
export const consolesLayer = Layer.effect(Consoles, make)
