import { licenseLayer, noSubscriptionLayer, openLicense } from "@rangewright/adapter-memory"
import { folderSubscriptionLayer, httpsSubscriptionLayer, signedLicenseLayer } from "@rangewright/adapter-subscription"
import type { ContentFetcher, LicenseProvider, SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { join } from "node:path"
import type { Config } from "../config/config.ts"
import type { DataFolder } from "./data-folder.ts"
import { readNamedFile } from "./named-file.ts"

export type SubscriptionPorts = LicenseProvider | SubscriptionProvider

/** The configured registry of subscription roles, if any; it keeps what it last saw in `state`. */
export const registryOf = (
  config: Config,
  state: string,
): Layer.Layer<SubscriptionProvider, SubscriptionFault, ContentFetcher> => {
  const options = { keys: config.subscriptionKeys, state }
  if (config.subscriptionFolder !== undefined) return folderSubscriptionLayer({ ...options, folder: config.subscriptionFolder })
  if (config.subscriptionRegistry === undefined) return noSubscriptionLayer
  return httpsSubscriptionLayer({
    ...options,
    url: config.subscriptionRegistry,
    ...(config.subscriptionToken === undefined ? {} : { token: config.subscriptionToken }),
    ...(config.subscriptionCaFile === undefined ? {} : { ca: readNamedFile("subscription_ca_file", config.subscriptionCaFile) }),
  })
}

/** The licence: everything is included unless the operator configured one. `instance`: undefined before the service's first start. */
export const bindLicense = (
  { licenseFile: file, licenseKeys: keys }: Config,
  instance: string | undefined,
  state: string,
): Layer.Layer<LicenseProvider, SubscriptionFault> =>
  file === undefined
    ? licenseLayer(openLicense)
    : signedLicenseLayer({ file, keys, hosts: [hostname(), ...(instance === undefined ? [] : [instance])], state })

/** The registry of subscription roles, if any, and the licence. */
export const bindSubscription = (
  config: Config,
  folder: DataFolder,
): Layer.Layer<SubscriptionPorts, SubscriptionFault, ContentFetcher> => {
  const state = join(folder.path, "subscription")
  return Layer.merge(registryOf(config, state), bindLicense(config, folder.instance, state))
}
