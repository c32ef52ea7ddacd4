import { ConsoleTickets } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { consoleTickets, toConsoleTicket } from "../records/console-ticket.ts"
import { every, first } from "../schema/table.ts"
import { requireRange, requireUser } from "./require.ts"

export const consoleTicketsLayer: Layer.Layer<ConsoleTickets, never, Database> = Layer.effect(
  ConsoleTickets,
  Effect.gen(function* () {
    const database = yield* Database
    const isKept = database.prepared(
      "read the ticket of a console",
      "select * from console_tickets where hash = ?",
      every(toConsoleTicket),
    )
    return {
      issue: (ticket) =>
        database.write("store the ticket of a console", (tx) =>
          Effect.gen(function* () {
            yield* requireUser(tx, ticket.callerId)
            yield* requireUser(tx, ticket.userId)
            yield* requireRange(tx, ticket.rangeId)
            const now = yield* Clock.currentTimeMillis
            yield* tx((db) => db.deleteFrom("console_tickets").where("expires_at", "<=", now).execute())
            yield* tx((db) => db.insertInto("console_tickets").values(consoleTickets.write(ticket)).execute())
          }),
        ),
      take: Effect.fnUntraced(function* (hash) {
        // anybody may send any text: only an existing ticket is worth a write transaction
        if ((yield* isKept(hash)).length === 0) return undefined
        return yield* database.write("redeem the ticket of a console", (tx) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const taken = yield* tx((db) =>
              db.deleteFrom("console_tickets").where("hash", "=", hash).returningAll().execute().then(first(toConsoleTicket)),
            )
            return taken !== undefined && taken.expiresAt.getTime() > now ? taken : undefined
          }),
        )
      }),
    }
  }),
)
