import { type Action, Conflict, type Fault, type Json, type RangeId, type Vmid } from "@rangewright/domain"
import { SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** The context that a sealed product key is bound to, so that it cannot be opened for another machine. Part of the stored format. */
const keyContext = (range: RangeId, vmid: Vmid): string => `product key of VM ${vmid} in range ${range}`

export const sealKey = (range: RangeId, vmid: Vmid, key: string): Effect.Effect<string, never, SecretStore> =>
  SecretStore.use((secrets) => Effect.succeed(secrets.seal(key, keyContext(range, vmid))))

const textOf = (input: Json, name: string): string | undefined => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  const value = (input as Readonly<Record<string, Json>>)[name]
  return typeof value === "string" ? value : undefined
}

/**
 * The actual input of a stage. Plans are journaled, so they contain no secret product key: the caller's own key is sealed in them, and the
 * operator's is read from the configuration now.
 */
export const withLicenseKey = ({
  machine,
  stage,
  input,
}: Extract<Action, { readonly kind: "guest" }>): Effect.Effect<Json, Fault, SecretStore | Settings> =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    if (stage === "kms-server") {
      const { kms } = yield* Settings
      if (kms?.hostKey === undefined)
        return yield* new Conflict({
          what: `Cannot set up a KMS host on ${machine.mark.machine}: the configuration no longer has a key for it`,
          hint: "Set kms_host_key.",
        })
      const { range, machine: name } = machine.mark
      if (kms.server?.range !== range || kms.server.machine !== name)
        return yield* new Conflict({
          what: `Cannot set up a KMS host on ${name}: the configuration names another machine (kms_server)`,
          hint: `Set it to ${range}/${name} if that machine should get your key.`,
        })
      return { license_key: kms.hostKey }
    }
    if (stage !== "activate-windows") return input
    const sealed = textOf(input, "sealed_license_key")
    const key =
      sealed === undefined
        ? textOf(input, "client_license_key")
        : yield* secrets.open(sealed, keyContext(machine.mark.range, machine.vmid))
    const { sealed_license_key: _sealed, client_license_key: _client, ...rest } = input as Readonly<Record<string, Json>>
    return { ...rest, license_key: key ?? "" }
  })
