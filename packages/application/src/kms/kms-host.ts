import { Conflict, type Fault, type KmsHost, kmsPort, NotFound } from "@rangewright/domain"
import type { Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type KmsSettings, Settings } from "../settings.ts"
import { kmsServerMachine } from "./server-machine.ts"

const unconfigured = (doing: string): NotFound =>
  new NotFound({
    what: `Cannot ${doing}: this server has no KMS host`,
    hint: "Set your organisation's own in the configuration (kms_host), or a machine with Windows Server to set one up on (kms_server and kms_host_key).",
  })

/** The configured settings; fails when there are none. */
export const configuredKms = (doing: string): Effect.Effect<KmsSettings, NotFound, Settings> =>
  Settings.use(({ kms }) => (kms === undefined ? Effect.fail(unconfigured(doing)) : Effect.succeed(kms)))

/** Where machines find the KMS host: the configured one, else the machine on which the service set one up. */
export const kmsHostFor = (
  { host, server }: KmsSettings,
  doing: string,
): Effect.Effect<KmsHost, Fault, Machines | Ranges | Users> =>
  Effect.gen(function* () {
    if (host !== undefined) return host
    if (server === undefined) return yield* unconfigured(doing)
    const { address } = (yield* kmsServerMachine(server, doing)).machine
    if (address !== undefined) return { host: address, port: kmsPort }
    return yield* new Conflict({
      what: `Cannot ${doing}: the address of ${server.machine} is not known (kms_server)`,
      hint: "Power it on, or set kms_host in the configuration.",
    })
  })
