import { type BuildAccount, TemplateBuilder } from "@rangewright/ports"
import type { RunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { Agent } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { lookAround } from "../src/availability.ts"
import { packerLayer } from "../src/layer.ts"
import { type PackerOptions, settingsOf } from "../src/options.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ports-")))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Stands for Packer: says the lowest port that it may serve answers at, but does not serve before everybody has said theirs. */
const program = join(folder, "packer")
writeFileSync(
  program,
  `#!/bin/sh
[ "$1" = version ] && { echo "Packer v1.6.6"; exit; }
exec python3 -c '
import socket, time
for port in range(8000, 9001):
    try:
        with socket.socket() as one:
            one.bind(("0.0.0.0", port))
        break
    except OSError:
        pass
print("port", port, flush=True)
time.sleep(2)'
`,
  { mode: 0o755 },
)
const options: PackerOptions = {
  folder: join(folder, "builds"),
  program,
  storage: "local-lvm",
  isoStorage: "local",
  address: "192.0.2.254",
  hypervisor: { url: "http://127.0.0.1:1", agent: new Agent() },
  caps: { vms: 1, cores: 1, memoryMiB: 512, diskBytes: 1024 ** 3 },
  bridge: Effect.succeed("vmbr1000"),
}
const { because } = await Effect.runPromise(lookAround(settingsOf(options)))

const account: BuildAccount = {
  username: "build-1@pve",
  password: Redacted.make("a-password"),
  tokenId: "build-1@pve!build",
  tokenSecret: Redacted.make("a-secret"),
  pool: "rw-build-1",
}

/** The port that a template's build says. */
const portOf = Effect.fnUntraced(function* (builder: TemplateBuilder["Service"], number: number, hcl: string) {
  const bytes = new TextEncoder().encode(hcl)
  let kept = ""
  yield* builder.build({
    id: `run00000000000${number}` as RunId,
    template: "x",
    files: [{ kind: "file", path: "x.pkr.hcl", size: bytes.length, executable: false, read: Effect.succeed(bytes) }],
    builderFile: "x.pkr.hcl",
    node: "pve",
    account: { ...account, pool: `rw-build-${number}` },
    output: (text) => Effect.sync(() => void (kept += text)),
  })
  return Number(/port (\d+)/u.exec(kept)?.[1])
})
const portsOf = (...templates: readonly string[]) =>
  Effect.runPromise(
    TemplateBuilder.use((builder) =>
      Effect.all(
        templates.map((hcl, i) => portOf(builder, i, hcl)),
        { concurrency: "unbounded" },
      ),
    ).pipe(Effect.provide(packerLayer(options))),
  )

const note = because.length === 0 ? "" : ` (skipped: ${because.join("; ")})`
describe.skipIf(because.length > 0)(`builds that start at the same moment${note}`, { timeout: 60_000 }, () => {
  it("never serve their answers at the same port", async () => {
    const hcl = 'source "proxmox-iso" "x" {}'
    expect(new Set(await portsOf(hcl, hcl, hcl)).size).toBe(3)
  })

  it("may use any port that their template names", async () => {
    expect(await portsOf('source "x" "x" {}', 'source "x" "x" {\n  http_port_min = 8000\n  http_port_max = 8000\n}')).toEqual([
      8000, 8000,
    ])
  })
})
