import { Conflict, type Fault, type KmsHost, kmsPort, NotFound } from "@rangewright/domain"
import type { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type KmsSettings, Settings } from "../settings.ts"
import { machineWithRange } from "./able-machines.ts"

/** What the configuration says; fails where it says nothing. */
export const configuredKms = (doing: string): Effect.Effect<KmsSettings, NotFound, Settings> =>
  Settings.use(({ kms }) =>
    kms === undefined
      ? Effect.fail(
          new NotFound({
            what: `Cannot ${doing}: this server has no KMS host`,
            hint: "An administrator names your organisation's own in the configuration (kms_host), or a machine with Windows Server to set one up on (kms_server and kms_host_key).",
          }),
        )
      : Effect.succeed(kms),
  )

/** Where machines find the KMS host: the configured one, else the machine that the service set one up on. */
export const kmsHostFor = ({ host, server }: KmsSettings, doing: string): Effect.Effect<KmsHost, Fault, Machines | Ranges> =>
  Effect.gen(function* () {
    if (host !== undefined) return host
    const found = server === undefined ? undefined : yield* machineWithRange(server)
    const address = found?.machine.address
    if (address !== undefined) return { host: address, port: kmsPort }
    return yield* new Conflict({
      what: `Cannot ${doing}: ${found === undefined ? `VM ${server ?? ""} (kms_server) is no machine of a range` : `no address is known of ${found.machine.name ?? `VM ${server ?? ""}`} (kms_server)`}`,
      hint: "Deploy it and power it on, or name the KMS host in the configuration (kms_host).",
    })
  })
