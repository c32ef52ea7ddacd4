import { BuildFault, TemplateBuilder } from "@rangewright/ports"
import type { RunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { lookAround } from "../src/availability.ts"
import { packerLayer } from "../src/layer.ts"
import { settingsOf } from "../src/options.ts"
import { account, optionsOf } from "./stand-in.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "endless-")))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Stands for Packer: each template has it do what none should. */
const program = join(folder, "packer")
writeFileSync(
  program,
  `#!/bin/sh
case "$*" in
version) echo "Packer v1.6.6" ;;
*log.pkr.hcl) exec yes "$(printf '%1000s' | tr ' ' x)" ;;
*processes.pkr.hcl) n=0; while [ $n -lt 500 ]; do sleep 600 & n=$((n+1)); echo "started $n"; done ;;
esac
`,
  { mode: 0o755 },
)
const options = { ...optionsOf(folder, program), tools: { limits: { processes: 64 } } }
const { because, host } = await Effect.runPromise(lookAround(settingsOf(options)))

/** Why the build failed, and its log. */
const built = async (builderFile: string) => {
  let kept = ""
  const build = TemplateBuilder.use((builder) =>
    builder.build({
      id: "run000000000001" as RunId,
      template: "endless",
      files: [],
      builderFile,
      node: "pve",
      account,
      output: (text) => Effect.sync(() => void (kept += text)),
    }),
  )
  const fault = await Effect.runPromise(Effect.flip(Effect.provide(build, packerLayer(options))))
  expect(fault).toBeInstanceOf(BuildFault)
  expect(readdirSync(options.folder)).toEqual([])
  return { because: fault.message, kept }
}

const note = because.length === 0 ? "" : ` (skipped: ${because.join("; ")})`
describe.skipIf(because.length > 0)(`a template without an end${note}`, () => {
  it("ends its build by its log, of which little is kept", async () => {
    const { because, kept } = await built("log.pkr.hcl")
    expect(because).toContain("it printed more than 64 MiB")
    expect(kept.length).toBeLessThan(5 * 1024 ** 2)
    expect(kept).toContain("[the rest is omitted: more than 4 MiB]")
  })

  it.skipIf("because" in host.cgroups)("starts no more processes than a build may have, and leaves none", async () => {
    const { kept } = await built("processes.pkr.hcl")
    expect(kept).toContain("started 10\n")
    expect(kept).not.toContain("started 64\n")
  })
})
