import { defineFault, type FaultKind } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Why a name has no address that can be used. */
export type NameReason =
  /** It is no name of a host in DNS. */
  | "invalid"
  /** No such name, or it has no IPv4 address. */
  | "not-found"
  /** Every address of it is private, reserved, or one of the service or the hypervisor. */
  | "not-public"
  /** The name servers cannot be reached or do not know. The same may work later. */
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

/** What the network of the service says of a name. */
export class NameLookup extends Context.Service<
  NameLookup,
  {
    /** The first public IPv4 address of exactly this name, within seconds. */
    readonly resolve: (name: string) => Effect.Effect<string, NameFault>
    /**
     * Where clients ask whether the certificates of an HTTPS server are revoked: the hosts of the CRLs and OCSP responders of all
     * certificates of its chain, in lower case, each once. `address` is the one that `resolve` gave; no other is connected to. None when
     * the server does not show a certificate of the name that a known authority signed within seconds.
     */
    readonly revocationHosts: (name: string, address: string) => Effect.Effect<readonly string[]>
    /** Why this host of the operator's cannot be connected to over TCP within seconds; undefined: it can. Nothing is sent. */
    readonly connects: (host: string, port: number) => Effect.Effect<string | undefined>
  }
>()("rangewright/NameLookup") {}
