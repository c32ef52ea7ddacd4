import { RangeNotFound, UserNotFound } from "@rangewright/domain"
import { ConsoleTickets } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

export const consoleTicketsLayer = (store: MemoryStore): Layer.Layer<ConsoleTickets> => {
  const { atomically, change } = writesTo(store)
  return Layer.succeed(ConsoleTickets, {
    issue: (ticket) =>
      atomically(function* (now) {
        for (const userId of [ticket.callerId, ticket.userId])
          if (!store.users.has(userId)) yield* Result.fail(new UserNotFound({ userId }))
        if (!store.ranges.has(ticket.rangeId)) yield* Result.fail(new RangeNotFound({ rangeId: ticket.rangeId }))
        for (const { hash, expiresAt } of store.consoleTickets.values()) if (expiresAt <= now) store.consoleTickets.delete(hash)
        store.consoleTickets.set(ticket.hash, ticket)
      }),
    take: (hash) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const taken = yield* change(() => {
          const found = store.consoleTickets.get(hash)
          store.consoleTickets.delete(hash)
          return found
        })
        return taken !== undefined && taken.expiresAt.getTime() > now ? taken : undefined
      }),
  })
}
