// usage: create-user.ts <sqlite file or postgres url> <id>: opens the store, makes one user, prints its number
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { storageLayer } from "../../src/index.ts"
import { newUser } from "../support.ts"

const [where = "", id = ""] = process.argv.slice(2)
const options = where.startsWith("postgres") ? { databaseUrl: where } : { file: where }
const user = await Effect.runPromise(
  Effect.provide(
    Users.use((users) => users.create(newUser(id))),
    storageLayer(options),
  ),
)
process.stdout.write(`${user.number}\n`)
