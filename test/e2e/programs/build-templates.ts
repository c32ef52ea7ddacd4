import { packerLayer } from "@rangewright/adapter-packer"
import { proxmoxLayer } from "@rangewright/adapter-proxmox"
import { isRunId, type RunId } from "@rangewright/domain"
import { type ArtifactEntry, HypervisorTemplates, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { Agent } from "node:https"
import { basename, join } from "node:path"
import { createInterface } from "node:readline"

/** Builds templates with the adapters alone, as a service on this host would. Takes its commands line by line. */
interface Site {
  readonly data: string
  readonly url: string
  readonly fingerprint: string
  readonly token: { readonly id: string; readonly secret: string }
}
export type Order =
  | { readonly type: "build"; readonly id: string; readonly folder: string; readonly name: string }
  | { readonly type: "abort"; readonly id: string }
  /** Removes what a killed build left behind. */
  | { readonly type: "clear"; readonly id: string }

/** Its output, line by line. */
export type Word =
  | { readonly id: string; readonly text: string }
  | { readonly id: string; readonly ended: "built" | "not built"; readonly text: string }

const site = JSON.parse(process.argv[2] ?? "{}") as Site
const say = (word: Word): void => void process.stdout.write(`${JSON.stringify(word)}\n`)

/** The files of a template, named after its folder there and by `name` here. */
const filesIn = (folder: string, name: string): readonly ArtifactEntry[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const whole = join(entry.parentPath, entry.name)
      const bytes = Buffer.from(readFileSync(whole, "utf8").replaceAll(`${basename(folder)}-template`, name))
      const path = whole.slice(folder.length + 1)
      return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
    })

const clear = Effect.fnUntraced(function* (id: RunId) {
  yield* (yield* TemplateBuilder).clear(id)
  yield* (yield* HypervisorTemplates).close(id)
})

const build = Effect.fnUntraced(function* (id: RunId, folder: string, name: string) {
  const templates = yield* HypervisorTemplates
  const account = yield* templates.open(id, "pve")
  const files = filesIn(folder, name)
  yield* (yield* TemplateBuilder)
    .build({
      id,
      template: name,
      files,
      builderFile: files.find(({ path }) => path.endsWith(".pkr.hcl"))?.path ?? "",
      node: "pve",
      account,
      output: (text) => Effect.sync(() => say({ id, text })),
    })
    .pipe(Effect.onError(() => Effect.ignore(clear(id))))
  for (const machine of yield* templates.made(id)) if (machine.name === name) yield* templates.adopt(id, machine)
  yield* templates.close(id)
})

/** Servers that have every image, and a record of what was fetched. */
const images = {
  folder: join(site.data, "images"),
  storageBytes: 1024 ** 3,
  servers: {
    read: () => Effect.succeed({ state: "gone", because: "it has no lists" } as const),
    fetch: (url: string, _most: number, take: (part: Uint8Array) => Promise<void>) =>
      Effect.promise(async () => {
        appendFileSync(join(site.data, "fetched"), `${url}\n`)
        const image = Buffer.from(`the image of ${url}`)
        await take(image)
        return { state: "there", bytes: image.length } as const
      }),
  },
}

const runtime = ManagedRuntime.make(
  Layer.merge(
    proxmoxLayer({
      urls: [site.url],
      auth: { type: "token", id: site.token.id, secret: Redacted.make(site.token.secret) },
      tls: { fingerprint: site.fingerprint },
    }),
    packerLayer({
      folder: join(site.data, "builds"),
      hypervisor: { url: site.url, agent: new Agent({ rejectUnauthorized: false }) },
      storage: "local-lvm",
      isoStorage: "local",
      caps: { vms: 2, cores: 16, memoryMiB: 32 * 1024, diskBytes: 600 * 1024 ** 3 },
      images,
      bridge: Effect.succeed("vmbr1000"),
    }),
  ),
)

const going = new Map<string, Fiber.Fiber<void, unknown>>()
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order
  const { id } = order
  if (!isRunId(id)) throw new Error(`${id} is no id of a run`)
  if (order.type === "abort") going.get(id)?.interruptUnsafe()
  else {
    const fiber = runtime.runFork(order.type === "clear" ? clear(id) : build(id, order.folder, order.name))
    going.set(id, fiber)
    fiber.addObserver((exit) =>
      say(
        exit._tag === "Success"
          ? { id, ended: "built", text: "" }
          : { id, ended: "not built", text: `not built: ${String(exit.cause)}\n` },
      ),
    )
  }
}
process.exit(0)
