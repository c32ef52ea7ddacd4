import {
  IdentityProvider,
  LegacyData,
  type LicenseProvider,
  NodePackages,
  PackageFolder,
  PackagesFault,
  ProviderFault,
  SubscriptionFault,
  SubscriptionProvider,
  TemplateBuilder,
  VpnFault,
  VpnServer,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { licenseLayer, openLicense } from "./license.ts"

/** People sign in with passwords and keys alone; `hint` says what to set. */
export const noProviderLayer = (hint?: string): Layer.Layer<IdentityProvider> => {
  const nobody = Effect.fail(
    new ProviderFault({
      doing: "sign in with an identity provider",
      reason: "unavailable",
      detail: "none is configured",
      ...(hint === undefined ? {} : { hint }),
    }),
  )
  return Layer.succeed(IdentityProvider, { authorization: () => nobody, redeem: () => nobody, describe: nobody })
}

/** No registry: no roles are offered. */
export const noSubscriptionLayer: Layer.Layer<SubscriptionProvider> = Layer.succeed(SubscriptionProvider, {
  list: Effect.succeed([]),
  issuedAt: Effect.undefined,
  fetch: (packageId) =>
    Effect.fail(
      new SubscriptionFault({
        doing: `fetch package ${packageId}`,
        reason: "not-found",
        detail: "no registry of subscription roles is configured",
      }),
    ),
})

/** No VPN server is managed; `hint` says what to set. */
export const noVpnLayer = (hint?: string): Layer.Layer<VpnServer> => {
  const noServer = Effect.fail(
    new VpnFault({
      doing: "check the VPN's server",
      reason: "refused",
      detail: "none is configured, so you have to enter its peers by hand",
      ...(hint === undefined ? {} : { hint }),
    }),
  )
  return Layer.succeed(VpnServer, { available: false, observe: noServer, apply: () => noServer, obstacles: () => noServer })
}

const noPackages = Effect.fail(
  new PackagesFault({ doing: "manage the packages of nodes", reason: "refused", detail: "nothing is configured for it" }),
)

/** The packages of nodes are left alone. */
export const noPackagesLayer: Layer.Layer<NodePackages | PackageFolder> = Layer.merge(
  Layer.succeed(NodePackages, { nodes: [], observe: () => noPackages, install: () => noPackages, restore: () => noPackages }),
  Layer.succeed(PackageFolder, { manifest: noPackages, file: () => noPackages }),
)

/** No templates are built; `because` and `hint` are for people. */
export const noBuilderLayer = (because: string, hint: string): Layer.Layer<TemplateBuilder> =>
  Layer.succeed(TemplateBuilder, {
    available: Effect.succeed({ available: false as const, because: [because], hint }),
    build: ({ template }) => Effect.die(new Error(`nothing can build ${template}`)),
    clear: () => Effect.void,
  })

/**
 * What a service can do without, for the ports whose adapters it does not use: sign-in at a provider, subscription roles, a VPN server,
 * packages of nodes, template builds, and the data of an older installation. Everything is licensed.
 */
export const absentLayer: Layer.Layer<
  | IdentityProvider
  | LegacyData
  | LicenseProvider
  | NodePackages
  | PackageFolder
  | SubscriptionProvider
  | TemplateBuilder
  | VpnServer
> = Layer.mergeAll(
  noProviderLayer(),
  noSubscriptionLayer,
  noVpnLayer(),
  noPackagesLayer,
  noBuilderLayer("this service does not build templates", "Build them elsewhere, and add them to the pool SHARED."),
  Layer.succeed(LegacyData, { place: "none is configured", read: Effect.undefined }),
  licenseLayer(openLicense),
)
