import { packerLayer } from "@rangewright/adapter-packer"
import { proxmoxLayer } from "@rangewright/adapter-proxmox"
import { isRunId } from "@rangewright/domain"
import { type ArtifactEntry, HypervisorTemplates, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { Agent } from "node:https"
import { join } from "node:path"

/** One build with the adapters alone, as a service on this host makes it. What it prints is the build's log. SIGTERM is an abort. */
interface Asked {
  readonly id: string
  readonly data: string
  readonly url: string
  readonly fingerprint: string
  readonly token: { readonly id: string; readonly secret: string }
  readonly template: string
  readonly name: string
  /** `clear`: what a build that was killed left goes. */
  readonly what: "build" | "clear"
}

const asked = JSON.parse(process.argv[2] ?? "{}") as Asked
const { id, name } = asked
if (!isRunId(id)) throw new Error(`${id} is no id of a run`)

const files = readdirSync(asked.template, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry): ArtifactEntry => {
    const whole = join(entry.parentPath, entry.name)
    const bytes = readFileSync(whole)
    const path = whole.slice(asked.template.length + 1)
    return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
  })

const clear = Effect.gen(function* () {
  yield* (yield* TemplateBuilder).clear(id)
  yield* (yield* HypervisorTemplates).close(id)
})

const build = Effect.gen(function* () {
  const templates = yield* HypervisorTemplates
  const account = yield* templates.open(id, "pve")
  yield* (yield* TemplateBuilder)
    .build({
      id,
      template: name,
      files,
      builderFile: files.find(({ path }) => /\.pkr\.hcl$|^[^/]+\.json$/u.test(path))?.path ?? "",
      node: "pve",
      account,
      output: (text) => Effect.sync(() => void process.stdout.write(text)),
    })
    .pipe(Effect.onError(() => Effect.ignore(clear)))
  for (const machine of yield* templates.made(id)) if (machine.name === name) yield* templates.adopt(id, machine)
  yield* templates.close(id)
})

/** Servers that have every image, and what was fetched of them. */
const images = {
  folder: join(asked.data, "images"),
  storageBytes: 1024 ** 3,
  servers: {
    read: () => Effect.succeed({ state: "gone", because: "it has no lists" } as const),
    fetch: (url: string, _most: number, take: (part: Uint8Array) => Promise<void>) =>
      Effect.promise(async () => {
        appendFileSync(join(asked.data, "fetched"), `${url}\n`)
        const image = Buffer.from(`the image of ${url}`)
        await take(image)
        return { state: "there", bytes: image.length } as const
      }),
  },
}

const program = (asked.what === "clear" ? clear : build).pipe(
  Effect.provide(
    Layer.merge(
      proxmoxLayer({
        urls: [asked.url],
        auth: { type: "token", id: asked.token.id, secret: Redacted.make(asked.token.secret) },
        tls: { fingerprint: asked.fingerprint },
      }),
      packerLayer({
        folder: join(asked.data, "builds"),
        hypervisor: { url: asked.url, agent: new Agent({ rejectUnauthorized: false }) },
        storage: "local-lvm",
        isoStorage: "local",
        caps: { vms: 2, cores: 16, memoryMiB: 32 * 1024, diskBytes: 600 * 1024 ** 3 },
        images,
        bridge: Effect.succeed("vmbr1000"),
      }),
    ),
  ),
)

const fiber = Effect.runFork(program)
process.once("SIGTERM", () => fiber.interruptUnsafe())
fiber.addObserver((exit) => {
  process.stdout.write(`${exit._tag === "Success" ? "built" : `not built: ${String(exit.cause)}`}\n`)
  process.exit(exit._tag === "Success" ? 0 : 1)
})
