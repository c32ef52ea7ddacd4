import { makeMemoryContent, memoryContentLayer } from "@rangewright/adapter-memory"
import { httpsSubscriptionLayer } from "@rangewright/adapter-subscription"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fetchRole, list, providerContract } from "./provider.contract.ts"
import { signedContract } from "./signed.contract.ts"
import { base, web } from "./support/roles-folder.ts"
import type { RegistryServer } from "./support/registry-server.ts"
import { signedWorld } from "./support/signed-world.ts"

const make = () => signedWorld("https")

providerContract({ name: "HTTPS", make })
signedContract("HTTPS", make)

const published = async () => {
  const world = await make()
  await world.publish([web])
  const { server } = world
  if (server === undefined) throw new Error("there is no server")
  return { world, server }
}
const otherState = (folder: string) => ({ state: join(folder, "..", "other-state") })

test("an unchanged index is not sent again, even after a restart", async () => {
  const { world, server } = await published()
  await world.run(list)
  await world.run(list)
  await world.provider()(list)
  expect(server.requests).toEqual(["GET /roles/index.json 200", "GET /roles/index.json 304", "GET /roles/index.json 304"])
  await world.publish([web, base])
  expect(await world.run(list)).toHaveLength(2)
})

test("a fresh index is not requested", async () => {
  const { world, server } = await published()
  const run = world.provider({ freshSeconds: 60 })
  await run(list)
  await run(list)
  await run(fetchRole(web.role))
  expect(server.requests.filter((line) => line.includes("index.json"))).toHaveLength(1)
})

test("concurrent callers share one request, and one who leaves does not end it", async () => {
  const { world, server } = await published()
  const answers: (() => void)[] = []
  server.misbehave = (request, response) => {
    if (server.misbehave === undefined) return false
    server.misbehave = undefined
    answers.push(() => {
      void world.read("index.json").then((bytes) => response.end(bytes))
    })
    return request.url !== undefined
  }
  const asked = () => server.requests.length === 1
  const lengths = await world.run(
    Effect.gen(function* () {
      const first = yield* Effect.forkChild(list)
      const others = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.forkChild(list))
      while (!asked()) yield* Effect.sleep(1)
      yield* Fiber.interrupt(first)
      answers[0]?.()
      return yield* Effect.forEach(others, (fiber) => Effect.map(Fiber.join(fiber), (roles) => roles.length))
    }),
  )
  expect(lengths).toEqual(Array.from({ length: 10 }, () => 1))
  expect(server.requests).toHaveLength(1)
})

test("while the registry is unreachable its last index is used, even after a restart, and it is not contacted for a while", async () => {
  const { world, server } = await published()
  await world.run(list)
  server.misbehave = (_, response) => response.writeHead(503).end() !== undefined
  const run = world.provider({ retrySeconds: 60 })
  for (const _ of [1, 2, 3]) expect(await run(list)).toHaveLength(1)
  expect(server.requests).toEqual(["GET /roles/index.json 200", "GET /roles/index.json misbehaved"])
  await server.close()
  expect(await world.run(list)).toHaveLength(1)
  expect((await run(Effect.flip(fetchRole(web.role)))).facts.reason).toBe("unreachable")
})

test("a registry that is unreachable and was never seen is a fault that does not reveal the token", async () => {
  const { world, server } = await published()
  await server.close()
  const fault = await world.run(Effect.flip(list))
  expect([fault.facts.reason, fault.kind]).toEqual(["unreachable", "failed"])
  expect(JSON.stringify([fault.message, fault.hint, fault.facts])).not.toContain(server.token)
})

const misbehaviours: readonly (readonly [string, NonNullable<RegistryServer["misbehave"]>, string])[] = [
  ["answers 500", (_, response) => (response.writeHead(500).end(), true), "unreachable"],
  ["refuses the token", (_, response) => (response.writeHead(403).end(), true), "unauthenticated"],
  [
    "redirects",
    (_, response) => (response.writeHead(302, { location: "https://elsewhere.example/" }).end(), true),
    "unavailable",
  ],
  [
    "breaks off",
    (_, response) => (response.writeHead(200, { "content-length": 5000 }).write("{"), response.destroy(), true),
    "unreachable",
  ],
  [
    "says that it sends more than an index may have",
    (_, response) => (response.writeHead(200, { "content-length": 1e9 }).end(), true),
    "too-large",
  ],
  [
    "sends without an end",
    (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024)
      const more = (): void => void (response.destroyed || response.write(chunk, more))
      response.writeHead(200)
      more()
      return true
    },
    "too-large",
  ],
  [
    "compresses without being asked",
    (_, response) => (response.writeHead(200, { "content-encoding": "gzip" }).end(), true),
    "broken",
  ],
  ["says unchanged of what it never gave", (_, response) => (response.writeHead(304).end(), true), "broken"],
]

test.each(misbehaviours)(
  "a registry that %s serves nothing to a provider without an index, and the last index to one that has it",
  async (_, misbehave, reason) => {
    const { world, server } = await published()
    await world.run(list)
    server.misbehave = misbehave
    expect(await world.run(list)).toHaveLength(1)
    expect((await world.provider(otherState(world.folder))(Effect.flip(list))).facts.reason).toBe(reason)
  },
)

test("a provider with an index waits only a moment for a newer one", async () => {
  const { world, server } = await published()
  await world.run(list)
  server.misbehave = () => true
  const run = world.provider({ patienceSeconds: 0.05, indexSeconds: 3600 })
  for (const _ of [1, 2]) expect(await run(list)).toHaveLength(1)
  // the first request continues, and no second one is sent
  expect(server.requests).toEqual(["GET /roles/index.json 200", "GET /roles/index.json misbehaved"])
})

test("a request without an answer ends at its deadline", async () => {
  const { world, server } = await published()
  server.misbehave = () => true
  const fault = await world.provider({ ...otherState(world.folder), indexSeconds: 0.05 })(Effect.flip(list))
  expect(fault.facts.reason).toBe("timeout")
})

test("a server whose certificate is not from the named authority gets no request", async () => {
  const { world, server } = await published()
  const layer = httpsSubscriptionLayer({
    url: server.url,
    token: server.token,
    keys: [world.key.public.text],
    state: otherState(world.folder).state,
  })
  const provided = Layer.provide(layer, memoryContentLayer(makeMemoryContent()))
  const fault = await Effect.runPromise(Effect.flip(list).pipe(Effect.provide(provided), Effect.provide(Logger.layer([]))))
  expect(fault.facts.reason).toBe("unreachable")
  expect(server.requests).toEqual([])
})

test.each([
  "http://roles.example/",
  "https://me:secret@roles.example/",
  "https://roles.example/?a=b",
  "roles.example",
  "file:///etc",
])("%s is not a registry URL", async (url) => {
  const layer = httpsSubscriptionLayer({ url, keys: ["ed25519:"], state: "/nowhere" })
  const provided = Layer.provide(layer, memoryContentLayer(makeMemoryContent()))
  const fault = await Effect.runPromise(Effect.flip(Effect.provide(list, provided)))
  expect(fault.message).toContain("its URL")
  expect(fault.message).not.toContain("secret")
})
