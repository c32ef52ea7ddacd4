import type { ResourceUse } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/**
 * Scarce things of the world, shared by all runs of the process: so many at once may clone on one storage, boot on one node. Whenever
 * something is given back, the most urgent waiting step for which there is room goes on.
 */
export interface Slots {
  /** Runs the effect when all of `uses` are free, and gives them back at its end. The higher `urgency` goes first. */
  readonly hold: (
    uses: readonly ResourceUse[],
    urgency: number,
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** As `hold`, but at once, whatever is free: for work that is going on already. */
  readonly occupy: (uses: readonly ResourceUse[]) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

interface Ticket {
  readonly uses: readonly ResourceUse[]
  readonly urgency: number
  readonly granted: Deferred.Deferred<void>
}

export const makeSlots = (): Slots => {
  const used = new Map<string, number>()
  const waiting: Ticket[] = []

  const count = (uses: readonly ResourceUse[], by: 1 | -1): void => {
    for (const { resource } of uses) {
      const now = (used.get(resource) ?? 0) + by
      if (now === 0) used.delete(resource)
      else used.set(resource, now)
    }
  }
  const hasRoom = (uses: readonly ResourceUse[]): boolean =>
    uses.every(({ resource, slots }) => (used.get(resource) ?? 0) < Math.max(1, slots))
  const grant = (): void => {
    for (let at = 0; at < waiting.length;) {
      const ticket = waiting[at]
      if (ticket === undefined || !hasRoom(ticket.uses)) {
        at += 1
        continue
      }
      waiting.splice(at, 1)
      count(ticket.uses, 1)
      Deferred.doneUnsafe(ticket.granted, Effect.void)
    }
  }
  const enqueue = (ticket: Ticket): void => {
    const at = waiting.findIndex(({ urgency }) => urgency < ticket.urgency)
    waiting.splice(at === -1 ? waiting.length : at, 0, ticket)
    grant()
  }
  const leave = (ticket: Ticket): void => {
    const at = waiting.indexOf(ticket)
    if (at !== -1) waiting.splice(at, 1)
    else if (Deferred.isDoneUnsafe(ticket.granted)) {
      count(ticket.uses, -1)
      grant()
    }
  }

  return {
    hold: (uses, urgency) => (effect) =>
      Effect.suspend(() => {
        const ticket: Ticket = { uses, urgency, granted: Deferred.makeUnsafe() }
        return Effect.suspend(() => {
          enqueue(ticket)
          return Effect.andThen(Deferred.await(ticket.granted), effect)
        }).pipe(Effect.ensuring(Effect.sync(() => leave(ticket))))
      }),
    occupy: (uses) => (effect) =>
      Effect.suspend(() => {
        count(uses, 1)
        return Effect.ensuring(
          effect,
          Effect.sync(() => {
            count(uses, -1)
            grant()
          }),
        )
      }),
  }
}
