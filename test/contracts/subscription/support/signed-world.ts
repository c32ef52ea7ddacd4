import {
  folderSubscriptionLayer,
  httpsSubscriptionLayer,
  packRegistry,
  type SubscriptionOptions,
} from "@rangewright/adapter-subscription"
import { contentLayer } from "@rangewright/adapter-git"
import { createKeyFile, type SigningKey } from "@rangewright/adapter-subscription"
import type { ContentFetcher, SubscriptionFault, SubscriptionProvider } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach } from "vitest"
import type { ProviderWorld } from "../provider.contract.ts"
import { type RegistryServer, startRegistryServer } from "./registry-server.ts"
import { type RoleOnOffer, writeRoles } from "./roles-folder.ts"

/** A signed registry on disk, and providers that read it; a test may change any byte of it. */
export interface SignedWorld extends ProviderWorld {
  /** The folder of the registry. */
  readonly folder: string
  readonly key: SigningKey
  readonly server: RegistryServer | undefined
  /** A separate provider with the same state as the others, as after a restart. */
  readonly provider: (options?: Partial<SubscriptionOptions>) => ProviderWorld["run"]
  /** Packs with another key than the trusted one, or at another time. */
  readonly pack: (roles: readonly RoleOnOffer[], options?: { readonly key?: SigningKey; readonly now?: Date }) => Promise<void>
  readonly read: (path: string) => Promise<Buffer>
  readonly write: (path: string, content: string | Uint8Array) => Promise<void>
}

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

export const newKey = async (folder: string): Promise<SigningKey> =>
  createKeyFile(join(folder, `key-${randomBytes(4).toString("hex")}`))

/** The tests cause the warnings on purpose. */
const quiet = Logger.layer([])

/** The world of one test; removed with the test. */
export const signedWorld = async (place: "folder" | "https"): Promise<SignedWorld> => {
  const root = await mkdtemp(join(tmpdir(), "rangewright-subscription-"))
  undo.push(() => rm(root, { recursive: true, force: true }))
  const [folder, rolesFolder, state] = ["registry", "roles", "state"].map((name) => join(root, name)) as [string, string, string]
  const key = await newKey(root)
  const server = place === "https" ? await startRegistryServer(folder) : undefined
  if (server !== undefined) undo.push(server.close)
  const provider: SignedWorld["provider"] = (options = {}) => {
    const all = { keys: [key.public.text], state, freshSeconds: 0, retrySeconds: 0, ...options }
    const layer: Layer.Layer<SubscriptionProvider, SubscriptionFault, ContentFetcher> =
      server === undefined
        ? folderSubscriptionLayer({ ...all, folder })
        : httpsSubscriptionLayer({ ...all, url: server.url, token: server.token, ca: server.ca })
    const runtime = ManagedRuntime.make(
      Layer.provideMerge(
        Layer.provide(layer, contentLayer({ folder: join(root, `content-${randomBytes(4).toString("hex")}`) })),
        quiet,
      ),
    )
    undo.push(() => runtime.dispose())
    return (effect) => runtime.runPromise(effect)
  }
  const pack: SignedWorld["pack"] = async (roles, options = {}) => {
    await writeRoles(rolesFolder, roles)
    await packRegistry({
      roles: rolesFolder,
      out: folder,
      key: options.key ?? key,
      entitlements: ["PRO_ROLES"],
      now: options.now ?? new Date(),
    })
  }
  return {
    folder,
    key,
    server,
    provider,
    pack,
    run: provider(),
    publish: pack,
    read: (path) => readFile(join(folder, path)),
    write: (path, content) => writeFile(join(folder, path), content),
  }
}
