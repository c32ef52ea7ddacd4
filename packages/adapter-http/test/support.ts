import { cryptoLayer } from "@rangewright/adapter-crypto"
import {
  httpApp,
  listen,
  usualHttpOptions,
  type AnsweredRequest,
  type ConnectionLimits,
  type HttpOptions,
} from "@rangewright/adapter-http"
import {
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryStore,
  memoryArtifactsLayer,
  memoryStorageLayer,
  openLicense,
  type MemoryArtifacts,
  type MemoryStore,
} from "@rangewright/adapter-memory"
import {
  type Activity,
  activityLayer,
  type AppServices,
  type Operation,
  signInsLayer,
  sourceContentsLayer,
} from "@rangewright/application"
import type { Fault, License, RangeId, RecordId, UserId } from "@rangewright/domain"
import {
  type Archives,
  type ContentFault,
  type ContentFetcher,
  CredentialHasher,
  Ranges,
  TokenSigner,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { randomBytes } from "node:crypto"
import { newRange } from "../../application/test/support/new-range.ts"

/** Who calls: `admin` owns nothing, `member` owns R1 and has it as default, `stranger` has nothing, `root` is the bootstrap account. */
export type Who = "admin" | "member" | "stranger" | "root"
export const idOf: Readonly<Record<Who, UserId>> = {
  admin: "AD" as UserId,
  member: "ME" as UserId,
  stranger: "ST" as UserId,
  root: "ROOT" as UserId,
}

const recordIdOf = (n: number) => `record${String(n).padStart(9, "0")}` as RecordId

/** The users and two ranges (R1 of the member, R2 of nobody), written through the ports. Returns everybody's key and token. */
const seed = Effect.gen(function* () {
  const users = yield* Users
  const ranges = yield* Ranges
  const hasher = yield* CredentialHasher
  const signer = yield* TokenSigner
  const keys = {} as Record<Who, string>
  const tokens = {} as Record<Who, string>
  const createdAt = new Date("2026-01-02T03:04:05Z")
  for (const [n, who] of (["root", "admin", "member", "stranger"] as const).entries()) {
    const id = idOf[who]
    const tokenKey = hasher.randomText(50)
    keys[who] = `${id}.${hasher.randomText(40)}`
    tokens[who] = yield* signer.sign({ userId: id, recordId: recordIdOf(n), tokenKey }, "auth", new Date())
    yield* users.create({
      id,
      recordId: recordIdOf(n),
      name: who,
      email: `${who}@lab.example`,
      isAdmin: who === "admin" || who === "root",
      hypervisorUsername: who,
      hypervisorRealm: "pve",
      secrets: { apiKeyHash: hasher.hash(keys[who]), sealedPassword: undefined, tokenKey },
      createdAt,
    })
  }
  for (const [n, id] of (["R1", "R2", "lab/web/1"] as const).entries())
    yield* ranges.create(
      newRange(id, { recordId: recordIdOf(100 + n), createdBy: idOf.admin, owners: id === "R2" ? [] : [idOf.member], createdAt }),
    )
  yield* users.change(idOf.member, { defaultRangeId: "R1" as RangeId })
  return { keys, tokens }
})

/** A stop that waits for its deadline fails its test by taking too long. */
const longerThanAnyTest = 600_000

/** What outlives a service: another one that begins with it is the same service, restarted. */
export interface Kept {
  /** The master key. */
  readonly secret: Uint8Array
  readonly keys: Readonly<Record<Who, string>>
  readonly tokens: Readonly<Record<Who, string>>
  readonly store: MemoryStore
  readonly artifacts: MemoryArtifacts
}

export interface Service extends Kept {
  readonly url: string
  readonly port: number
  readonly answered: AnsweredRequest[]
  readonly defects: { readonly requestId: string; readonly cause: string }[]
  readonly run: HttpOptions["run"]
  readonly stop: (deadline?: number) => Promise<void>
}

/** What every test service has. */
type Provided = Activity | Layer.Success<ReturnType<typeof portsOver>>

const portsOver = (
  { secret, store, artifacts }: Pick<Kept, "secret" | "store" | "artifacts">,
  { license = openLicense, content, storage = memoryStorageLayer }: ServiceOptions,
) =>
  sourceContentsLayer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.orDie(storage(store)),
        cryptoLayer({ bytes: secret }),
        content === undefined
          ? memoryArtifactsLayer(artifacts)
          : Layer.merge(memoryArtifactsLayer(artifacts), Layer.orDie(content)),
        licenseLayer(license),
      ),
    ),
  )

export interface ServiceOptions {
  readonly operations: readonly Operation[]
  readonly license?: License
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly host?: string
  readonly limits?: Partial<ConnectionLimits>
  readonly http?: Partial<HttpOptions>
  /** What sources and archives are fetched with; absent: the memory adapter's. */
  readonly content?: Layer.Layer<Archives | ContentFetcher, ContentFault>
  /** The storage ports, which may stand over the memory adapters' store; absent: just that. */
  readonly storage?: (store: MemoryStore) => Layer.Layer<Layer.Success<ReturnType<typeof memoryStorageLayer>>, Fault>
  /** Further services that the operations ask for. */
  readonly services?: Layer.Layer<never, never, Provided> | Layer.Layer<AppServices, never, Provided>
  /** What the service begins with; absent: the users and ranges of `seed`. */
  readonly kept?: Kept
}

/** The given operations behind a real port, over the memory adapters. Only what those adapters offer may be asked for. */
export const startService = async (options: ServiceOptions): Promise<Service> => {
  const { secret, store, artifacts } = options.kept ?? {
    secret: randomBytes(32),
    store: makeMemoryStore(),
    artifacts: makeMemoryArtifacts(),
  }
  const ports = portsOver({ secret, store, artifacts }, options)
  const further: Layer.Layer<never, never, Provided> = options.services ?? Layer.empty
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(further, Layer.provideMerge(Layer.merge(activityLayer, signInsLayer), ports)),
  )
  const { keys, tokens } = options.kept ?? (await runtime.runPromise(seed))
  const answered: AnsweredRequest[] = []
  const defects: { requestId: string; cause: string }[] = []
  // operations of these tests ask for nothing that is not there; one that does ends in a defect, which tests see
  const run: HttpOptions["run"] = (effect) =>
    runtime.runFork(effect as Effect.Effect<never, never, Exclude<AppServices, AppServices>>) as never
  const app = httpApp({
    ...usualHttpOptions,
    operations: options.operations,
    run,
    observer: { answered: (request) => answered.push(request), defect: (defect) => defects.push(defect) },
    probes: {
      ready: () => Promise.resolve({ ready: true, detail: {} }),
      metrics: () => Promise.resolve("up 1\n"),
    },
    ...options.http,
  })
  const listener = await listen(app, {
    host: options.host ?? "127.0.0.1",
    port: 0,
    tls: options.tls,
    limits: options.limits ?? {},
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    secret,
    keys,
    tokens,
    store,
    artifacts,
    answered,
    defects,
    run,
    stop: async (deadline = longerThanAnyTest) => {
      await listener.close(deadline)
      await runtime.dispose()
    },
  }
}
