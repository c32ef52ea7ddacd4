import { type ImageServers, NameLookup } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { connects } from "./connects.ts"
import { imageServersLayer } from "./image-servers.ts"
import type { InternetOptions } from "./options.ts"
import { resolve } from "./resolve.ts"
import { revocationHosts } from "./revocation-hosts.ts"

/** Queries the host's name servers, and the servers behind public names. */
export const nameLookupLayer = (options: InternetOptions = {}): Layer.Layer<NameLookup> =>
  Layer.succeed(NameLookup, {
    resolve: (name) => resolve(options, name),
    revocationHosts: (name, address) => revocationHosts(options, name, address),
    connects,
  })

/** Everything that the service queries on the internet. */
export const internetLayer = (options: InternetOptions = {}): Layer.Layer<NameLookup | ImageServers> =>
  Layer.merge(nameLookupLayer(options), imageServersLayer(options))
