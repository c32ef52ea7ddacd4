import { createSimulator, type HttpListener, type Simulator } from "@rangewright/pve-simulator"
import type { ArtifactEntry, ServerBytes } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { Agent as PlainAgent, createServer } from "node:http"
import { Agent } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { type ImageStorage, openImageStorage } from "../src/image-storage.ts"
import { openImages } from "../src/images.ts"

const sum = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest("hex")

const url = "https://images.example/12/linux.iso"
const linux = "what is on the disc"
const volume = `local:iso/rw-iso-${sum("sha256", linux)}.iso`
const named = (checksum: string, at = url) =>
  `source "proxmox-iso" "x" {\n  iso_url = "${at}"\n  iso_checksum = "${checksum}"\n  vm_name = "x"\n}\n`
const template = named(`sha256:${sum("sha256", linux)}`)

let sim: Simulator
let http: HttpListener
let agent: Agent
let folder: string
/** What servers have, what was fetched of them, and what comes instead. */
let texts: Map<string, string>
let fetched: string[]
let instead: ((take: (part: Uint8Array) => Promise<void>) => Effect.Effect<ServerBytes>) | undefined
let said: string[]

beforeEach(async () => {
  sim = createSimulator({ speed: 2000 })
  http = await sim.listen()
  agent = new Agent({ rejectUnauthorized: false })
  folder = mkdtempSync(join(tmpdir(), "images-"))
  texts = new Map([[url, linux]])
  fetched = []
  instead = undefined
  said = []
})
afterEach(async () => {
  agent.destroy()
  await sim.close()
  rmSync(folder, { recursive: true })
})

const servers = {
  read: (at: string) =>
    Effect.sync(() => {
      const text = texts.get(at)
      return text === undefined ? ({ state: "gone", because: "no such file" } as const) : ({ state: "there", text } as const)
    }),
  fetch: (at: string, most: number, take: (part: Uint8Array) => Promise<void>): Effect.Effect<ServerBytes> =>
    Effect.gen(function* () {
      fetched.push(at)
      if (instead !== undefined) return yield* instead(take)
      const text = texts.get(at) ?? ""
      if (text.length > most) return { state: "unknown", because: "it is too long" }
      yield* Effect.promise(() => take(Buffer.from(text)))
      return { state: "there", bytes: text.length }
    }),
}

const storageOf = (): ImageStorage => {
  const [tokenId = "", secret = ""] = sim.rootToken.split("=")
  const account = { tokenId, tokenSecret: Redacted.make(secret) }
  return openImageStorage({ url: http.url, agent }, account, { node: "pve", storage: "local" })
}

const service = async (storageBytes = 1024 ** 3) => {
  const images = await openImages({ folder, storageBytes, servers })
  /** The builder file that Packer gets. */
  return (text: string, builderFile = "x.pkr.hcl") => {
    const bytes = new TextEncoder().encode(text)
    const file: ArtifactEntry = {
      kind: "file",
      path: builderFile,
      size: bytes.length,
      executable: false,
      read: Effect.succeed(bytes),
    }
    const used = images.use({
      doing: "build x",
      files: [file],
      builderFile,
      storage: storageOf(),
      say: (line) => said.push(line),
    })
    return Effect.flatMap(used, ([one]) =>
      one?.kind === "file" ? Effect.map(one.read, (read) => new TextDecoder().decode(read)) : Effect.succeed(""),
    )
  }
}
const volumes = () =>
  [...(sim.state.storages.get("local")?.volumes.values() ?? [])].filter(({ volid }) => volid.includes("rw-iso"))
const spooled = () => readdirSync(join(folder, "fetched"))
const uploads = () => sim.calls.counts().byRoute["POST /nodes/{node}/storage/{storage}/upload"] ?? 0

describe("an image that several builds need", () => {
  it("is fetched and uploaded once, also when they begin at once, and is called by what is in it", async () => {
    const use = await service()
    const written = await Effect.runPromise(Effect.all([use(template), use(template), use(template)], { concurrency: 3 }))
    for (const text of written)
      expect(text).toBe(`source "proxmox-iso" "x" {\n  iso_file = "${volume}"\n  \n  vm_name = "x"\n}\n`)
    expect([fetched, uploads(), volumes().map(({ volid }) => volid), spooled()]).toEqual([[url], 1, [volume], []])
    expect(said).toContain(`${url} is on the storage already: ${volume}`)
  })

  it("is one, whatever strong sum they name and where they read it", async () => {
    const use = await service()
    texts.set("https://images.example/12/SUMS", `${sum("sha512", linux)}  linux.iso\n${"0".repeat(128)}  other.iso\n`)
    for (const checksum of [`sha512:${sum("sha512", linux)}`, "file:https://images.example/12/SUMS", sum("sha256", linux)])
      expect(await Effect.runPromise(use(named(checksum)))).toContain(`iso_file = "${volume}"`)
    expect([fetched, volumes().length]).toEqual([[url], 1])
  })

  it("is known after a restart; what is known of it may be lost", async () => {
    await Effect.runPromise((await service())(template))
    await Effect.runPromise((await service())(template))
    expect(fetched).toEqual([url])
    const [receipt = ""] = readdirSync(join(folder, "known"))
    expect(readFileSync(join(folder, "known", receipt), "utf8")).toContain(sum("sha512", linux))
    writeFileSync(join(folder, "known", receipt), "{")
    expect(await Effect.runPromise((await service())(template))).toContain(volume)
    expect(fetched).toEqual([url, url])
  })
})

describe("an image of the right name", () => {
  const plant = (bytes: number): void => {
    const storage = sim.state.storages.get("local")
    const [one] = volumes()
    const found = one ?? {
      ...[...(storage?.volumes.values() ?? [])][0]!,
      volid: volume,
      content: "iso",
      format: "iso",
      vmid: undefined,
    }
    storage?.volumes.set(`pve/${volume}`, { ...found, sizeBytes: bytes, ctime: found.ctime + 1 })
  }

  it("that the service did not put there is not used: it is replaced by what has the checksum", async () => {
    plant(linux.length)
    const use = await service()
    await Effect.runPromise(use(template))
    expect([fetched, uploads()]).toEqual([[url], 1])
  })

  it("that was changed since is not used, whatever its size", async () => {
    const use = await service()
    await Effect.runPromise(use(template))
    for (const bytes of [linux.length, 7]) {
      plant(bytes)
      expect(await Effect.runPromise(use(template))).toContain(volume)
      expect(volumes().map(({ sizeBytes }) => sizeBytes)).toEqual([linux.length])
    }
    expect(uploads()).toBe(3)
  })

  it("holds what the template of another tenant names, or nothing: other content under its checksum is refused with both sums", async () => {
    const use = await service()
    const evil = "https://evil.example/linux.iso"
    texts.set(evil, "what the attacker has")
    const planted = named(`sha256:${sum("sha256", linux)}`, evil)
    const fault = await Effect.runPromise(Effect.flip(use(planted)))
    expect(fault.message).toContain(sum("sha256", "what the attacker has"))
    expect(fault.message).toContain(sum("sha256", linux))
    expect([volumes(), spooled(), uploads()]).toEqual([[], [], 0])
  })
})

describe("an image that is not kept", () => {
  it.each([
    ["with a weak sum", named(`md5:${sum("md5", linux)}`), "x.pkr.hcl"],
    ["with another weak sum", named(`sha1:${sum("sha1", linux)}`), "x.pkr.hcl"],
    ["without a sum", named("none"), "x.pkr.hcl"],
    ["whose list names two sums", named("file:https://images.example/two"), "x.pkr.hcl"],
    ["with several URLs", template.replace("iso_url =", `iso_urls = ["${url}"]\n  iso_url =`), "x.pkr.hcl"],
    ["of this host", named(`sha256:${sum("sha256", linux)}`, "file:///etc/passwd"), "x.pkr.hcl"],
    ["of a builder file in JSON", template, "x.pkr.json"],
  ])("%s is left to Packer, and nobody fetches it", async (_, text, builderFile) => {
    texts.set("https://images.example/two", `${"1".repeat(64)}  linux.iso\n${"2".repeat(64)}  linux.iso\n`)
    expect(await Effect.runPromise((await service())(text, builderFile))).toBe(text)
    expect([fetched, volumes()]).toEqual([[], []])
  })

  it.each([
    ["its server ended it early", 1024 ** 3],
    ["it is too long", 5],
    ["template_image_storage allows", 0],
  ])("is left to Packer with the reason, and nothing of it stays: %s", async (because, room) => {
    if (room > 5)
      instead = (take) =>
        Effect.as(
          Effect.promise(() => take(Buffer.from("wha"))),
          { state: "unknown", because },
        )
    expect(await Effect.runPromise((await service(room))(template))).toBe(template)
    expect(said.at(-1)).toContain(because)
    expect([volumes(), spooled(), uploads()]).toEqual([[], [], 0])
  })

  it("is left to Packer where the storage does not take it", async () => {
    sim.faults.add({ kind: "fail-task", type: "imgcopy", text: "import failed: No space left on device", when: "before" })
    expect(await Effect.runPromise((await service())(template))).toBe(template)
    expect(said.at(-1)).toMatch(/is not kept for other builds: the hypervisor did not accept it: import failed: No space/u)
    expect([volumes(), spooled()]).toEqual([[], []])
  })

  it("leaves nothing where the build is aborted, and the next one may fetch it", async () => {
    const use = await service()
    instead = () => Effect.never
    const aborted = Effect.runFork(use(template))
    await expect.poll(() => fetched.length).toBe(1)
    await Effect.runPromise(Fiber.interrupt(aborted))
    expect([volumes(), spooled()]).toEqual([[], []])
    instead = undefined
    expect(await Effect.runPromise(use(template))).toContain(volume)
  })
})

it("a hypervisor that stops answering while it stores an image does not keep the build, and everybody's next ones, for ever", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1")
  await once(silent, "listening")
  const plain = new PlainAgent()
  onTestFinished(() => {
    plain.destroy()
    silent.closeAllConnections()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const hypervisor = { url: `http://127.0.0.1:${port}`, agent: plain }
  const account = { tokenId: "a@pve!b", tokenSecret: Redacted.make("secret") }
  const storage = openImageStorage(hypervisor, account, { node: "pve", storage: "local", answerMillis: 200 })
  const { signal } = new AbortController()
  await expect(storage.untilDone("UPID:pve:1", signal)).rejects.toThrow("the hypervisor did not answer within 1 s")
  await expect(storage.list(signal)).rejects.toThrow("the hypervisor did not answer within 1 s")
})

it("a task that stores an image and never ends does not keep the build for ever", async () => {
  const running = createServer((_, response) => response.end(JSON.stringify({ data: { status: "running" } }))).listen(
    0,
    "127.0.0.1",
  )
  await once(running, "listening")
  const plain = new PlainAgent()
  onTestFinished(() => {
    plain.destroy()
    running.close()
  })
  const { port } = running.address() as AddressInfo
  const hypervisor = { url: `http://127.0.0.1:${port}`, agent: plain }
  const account = { tokenId: "a@pve!b", tokenSecret: Redacted.make("secret") }
  const storage = openImageStorage(hypervisor, account, { node: "pve", storage: "local", taskMillis: 600 })
  await expect(storage.untilDone("UPID:pve:1", new AbortController().signal)).rejects.toThrow(
    "the node did not store it within 1 minutes (task UPID:pve:1)",
  )
})
