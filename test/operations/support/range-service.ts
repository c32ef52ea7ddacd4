import {
  licenseLayer,
  makeMemoryArtifacts,
  makeMemoryNames,
  makeMemoryPackages,
  memoryArtifactsLayer,
  memoryHypervisorLayer,
  memoryNamesLayer,
  memoryStorageLayer,
  openLicense,
  memoryVpnLayer,
  memoryPackagesLayer,
} from "@rangewright/adapter-memory"
import {
  accessRun,
  handlerServicesLayer,
  Activity,
  ApiDescription,
  type AppServices,
  type HandlerRequest,
  operations,
  packageLooksLayer,
  packagesRun,
  rangeEngineLayer,
  runPlannerLayer,
  type ServerSentEvents,
  Settings,
  type SettingsShape,
  sourceContentsLayer,
} from "@rangewright/application"
import type { Range, RangeId, RecordId, User, UserId } from "@rangewright/domain"
import { CredentialHasher, Ranges, SecretStore, TokenSigner, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import { labSettings, makeCompany } from "../../runs/support/lab.ts"

/** The operations on the real engine and planner, over the memory world and its clock: everything a range goes through. */
export const makeRangeService = (settings: SettingsShape = labSettings, packages = makeMemoryPackages(), lab = makeCompany()) => {
  const names = makeMemoryNames()
  const secrets = { seal: (plain: string) => plain, open: (sealed: string) => sealed }
  const ports = Layer.mergeAll(
    memoryStorageLayer(lab.store),
    memoryHypervisorLayer(lab.world),
    licenseLayer(openLicense),
    memoryNamesLayer(names),
    Layer.succeed(SecretStore, {
      seal: (plain) => secrets.seal(plain),
      open: (sealed) => Effect.sync(() => secrets.open(sealed)),
    }),
    Layer.succeed(Settings, settings),
    Layer.succeed(Clock.Clock, lab.clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  let texts = 0
  const others = Layer.mergeAll(
    Layer.provideMerge(sourceContentsLayer, memoryArtifactsLayer(makeMemoryArtifacts())),
    Layer.succeed(ApiDescription, { yaml: "" }),
    Layer.succeed(Activity, {
      user: () => undefined,
      range: () => undefined,
      lastOfRange: () => undefined,
      keptOn: () => undefined,
      keptOnBecause: () => undefined,
      countIdleFrom: () => undefined,
      idleCountsFrom: () => undefined,
      flush: Effect.void,
    }),
    Layer.succeed(CredentialHasher, {
      hash: (key) => key,
      verify: (key, hash) => key === hash,
      verifyFirstGeneration: () => Effect.succeed(false),
      equal: (a, b) => a === b,
      randomText: (length) => (++texts).toString(36).padStart(length, "0"),
      vncAnswer: (_password, challenge) => challenge,
    }),
    memoryVpnLayer(),
    Layer.succeed(TokenSigner, { sign: () => Effect.succeed(""), subject: () => undefined, verify: () => Effect.succeed(false) }),
  )
  const engine = rangeEngineLayer({ owner: "service" }, [accessRun, packagesRun]).pipe(
    Layer.provideMerge(runPlannerLayer),
    Layer.provideMerge(Layer.merge(ports, Layer.provideMerge(packageLooksLayer, memoryPackagesLayer(packages)))),
  )
  const services = Layer.provideMerge(handlerServicesLayer, Layer.merge(engine, others))
  const runtime = ManagedRuntime.make(services as Layer.Layer<AppServices>)
  const addUser = (id: string, { isAdmin = false } = {}): Promise<User> =>
    runtime.runPromise(
      Effect.flatMap(Users, (users) =>
        users.create({
          id: id as UserId,
          recordId: id.toLowerCase().padStart(15, "0") as RecordId,
          name: id,
          email: `${id}@lab.example`,
          isAdmin,
          hypervisorUsername: id.toLowerCase(),
          hypervisorRealm: "pve",
          secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: id },
          createdAt: new Date(0),
        }),
      ),
    )
  const call = async (id: string, user: User, request: Partial<HandlerRequest> = {}): Promise<unknown> => {
    const range = await runtime.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.find("LAB" as RangeId)))
    const operation = operations.find((known) => known.id === id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    const meta = { requestId: "r", remote: "", lastEventId: undefined }
    const nothing = { path: {}, query: {}, body: undefined, file: undefined, group: undefined }
    const answer = await runtime.runPromise(operation.handle({ ...nothing, caller: user, user, range, meta, ...request }))
    return operation.output.type === "marked-json" ? (answer as { readonly json: unknown }).json : answer
  }
  const find = (id: string): Promise<Range> =>
    runtime.runPromise(
      Effect.flatMap(Ranges, (ranges) =>
        Effect.flatMap(ranges.find(id as RangeId), (range) =>
          range === undefined ? Effect.die(new Error(`no range ${id}`)) : Effect.succeed(range),
        ),
      ),
    )
  /** Waits for the end of a run and returns it. */
  const end = async (user: User, runID: string): Promise<unknown> => {
    const events = (await call("streamRunEvents", user, { path: { runID } })) as ServerSentEvents
    await Effect.runPromise(events({ send: () => undefined, hasRoom: () => true, room: Effect.void }))
    return call("getRun", user, { path: { runID } })
  }
  /** Deploys the range, waits for the end of the run and returns it. */
  const deploy = async (user: User, range: Range): Promise<unknown> => {
    const { runID } = (await call("deployRange", user, { range })) as { readonly runID: string }
    return end(user, runID)
  }
  const putConfig = (user: User, range: Range, text: string): Promise<unknown> =>
    call("putConfig", user, {
      range,
      body: {},
      file: { filename: "file", contentType: "", bytes: new TextEncoder().encode(text) },
    })
  return {
    lab,
    names,
    secrets,
    addUser,
    call,
    find,
    deploy,
    end,
    putConfig,
    run: runtime.runPromise,
    close: () => runtime.dispose(),
  }
}
export type RangeService = ReturnType<typeof makeRangeService>
