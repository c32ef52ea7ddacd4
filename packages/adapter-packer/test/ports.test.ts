import { TemplateBuilder } from "@rangewright/ports"
import type { RunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { lookAround } from "../src/availability.ts"
import { packerLayer } from "../src/layer.ts"
import { settingsOf } from "../src/options.ts"
import { account, optionsOf } from "./stand-in.ts"

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
const options = optionsOf(folder, program)
const { because } = await Effect.runPromise(lookAround(settingsOf(options)))

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
