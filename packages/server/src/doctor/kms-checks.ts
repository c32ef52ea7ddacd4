import { kmsServerMachine } from "@rangewright/application"
import type { Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Config } from "../config/config.ts"
import { kmsOf } from "../config/kms.ts"
import { type Finding, ok, warn } from "./finding.ts"

const what = "kms_server"

/** Checks that the machine configured as KMS host exists in an administrator's range. */
export const checkKms = (config: Config): Effect.Effect<readonly Finding[], never, Machines | Ranges | Users> => {
  const server = kmsOf(config)?.server
  if (server === undefined) return Effect.succeed([])
  return kmsServerMachine(server, "use the KMS host").pipe(
    Effect.map(({ machine }) => [ok(what, `${server.range}/${server.machine} is VM ${machine.vmid}`)]),
    Effect.catch(({ message, hint }) => Effect.succeed([warn(what, message, hint ?? "Check the service's database.")])),
  )
}
