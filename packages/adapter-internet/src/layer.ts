import type { AddressNetwork } from "@rangewright/domain"
import { type ImageServers, NameLookup, type Notifications } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { connects } from "./connects.ts"
import { imageServersLayer } from "./image-servers.ts"
import type { InternetOptions } from "./options.ts"
import { notificationsLayer } from "./notifications.ts"
import { resolve } from "./resolve.ts"
import { revocationHosts } from "./revocation-hosts.ts"

/** Queries the host's name servers, and the servers behind public names. */
export const nameLookupLayer = (options: InternetOptions = {}): Layer.Layer<NameLookup> =>
  Layer.succeed(NameLookup, {
    resolve: (name) => resolve(options, name),
    revocationHosts: (name, address) => revocationHosts(options, name, address),
    connects,
  })

export interface InternetLayerOptions extends Omit<InternetOptions, "networks"> {
  /** Networks that are not public and that notifications may be sent to. */
  readonly notificationNetworks?: readonly AddressNetwork[]
}

/** Everything that the service queries on the internet, and tells it. */
export const internetLayer = ({ notificationNetworks = [], ...options }: InternetLayerOptions = {}): Layer.Layer<
  NameLookup | ImageServers | Notifications
> =>
  Layer.mergeAll(
    nameLookupLayer(options),
    imageServersLayer(options),
    notificationsLayer({ ...options, networks: notificationNetworks }),
  )
