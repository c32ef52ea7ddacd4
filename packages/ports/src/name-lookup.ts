import { defineFault, type FaultKind } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Why no usable address was found for a name. */
export type NameReason =
  /** It is not a valid DNS host name. */
  | "invalid"
  /** No such name, or it has no IPv4 address. */
  | "not-found"
  /** All its addresses are private, reserved, or belong to the service or the hypervisor. */
  | "not-public"
  /** The name servers cannot be reached or failed to answer. The same may succeed later. */
  | "unavailable"
  | "timeout"

const nameKinds: Record<NameReason, FaultKind> = {
  invalid: "invalid",
  "not-found": "not-found",
  "not-public": "invalid",
  unavailable: "unavailable",
  timeout: "timeout",
}

/** A name cannot be resolved to a public address. */
export class NameFault extends defineFault(
  "NameFault",
  (f: { readonly name: string; readonly reason: NameReason; readonly detail: string }) => nameKinds[f.reason],
  (f) => ({ message: `Cannot resolve ${JSON.stringify(f.name.slice(0, 260)).slice(1, -1)}: ${f.detail}` }),
) {}

/** Resolves names from the service's network. */
export class NameLookup extends Context.Service<
  NameLookup,
  {
    /** The first public IPv4 address of exactly this name; takes some seconds at most. */
    readonly resolve: (name: string) => Effect.Effect<string, NameFault>
    /**
     * The hosts that clients ask whether the certificates of an HTTPS server are revoked: those of the CRLs and OCSP responders of all
     * certificates in its chain, in lower case, each once. `address` comes from `resolve`; no other is connected to. Empty if the server
     * does not present, within seconds, a certificate for the name signed by a trusted authority.
     */
    readonly revocationHosts: (name: string, address: string) => Effect.Effect<readonly string[]>
    /** Why this host of the operator's cannot be reached over TCP within seconds; undefined if it can. Sends no data. */
    readonly connects: (host: string, port: number) => Effect.Effect<string | undefined>
  }
>()("rangewright/NameLookup") {}
