import { prepareRun, runCommand, systemPath } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { builderFindings, lookAround } from "../src/availability.ts"
import { type LocalOptions, settingsOf } from "../src/options.ts"

describe("a Packer outside of the system's folders", () => {
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "packer-")))
    for (const name of ["home/plugins/github.com/hashicorp/proxmox", "work", "real"])
      mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, "real/packer"), '#!/bin/sh\necho "Packer v1.9.1"\n', { mode: 0o755 })
    symlinkSync(join(folder, "real/packer"), join(folder, "home/packer"))
    writeFileSync(
      join(folder, "home/plugins/github.com/hashicorp/proxmox/packer-plugin-proxmox_v1.2.4_x5.0_linux_amd64"),
      "plugin\n",
    )
    for (const name of ["home/secret", "home/plugins/secret", "real/secret"]) writeFileSync(join(folder, name), "secret\n")
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it("shows builds the program and its plugins, and nothing of what lies beside them", async () => {
    const found = await Effect.runPromise(
      lookAround(
        settingsOf({
          folder: join(folder, "builds"),
          program: join(folder, "home/packer"),
          plugins: join(folder, "home/plugins"),
          storage: "local-lvm",
          isoStorage: "local",
          address: "192.0.2.254",
        }),
      ),
    )
    expect([found.version, found.because.filter((fact) => fact.includes("plugin"))]).toEqual(["1.9.1", []])
    const places = found.mounts.map(({ to = "" }) => to.slice(folder.length + 1))
    expect(places).toEqual([
      "real/packer",
      "home/packer",
      "home/plugins/github.com/hashicorp/proxmox/packer-plugin-proxmox_v1.2.4_x5.0_linux_amd64",
    ])
    if (!found.host.sandbox.works) return
    const line = `${join(folder, "home/packer")}; cd ${folder}; find home real -type f | sort`
    const work = join(folder, "work")
    const said: string[] = []
    const run = Effect.gen(function* () {
      const options = { folder: work, mounts: found.mounts, reach: { networks: [], servers: [], internet: false } }
      const { confine, limits } = yield* prepareRun(found.host, options)
      const [program = "", ...args] = confine(["sh", "-c", line])
      const env = { PATH: systemPath, HOME: join(work, "home") }
      yield* runCommand({ program, args, env, folder: work, ...limits }, 100_000, (_, text) => said.push(text))
    })
    await Effect.runPromise(Effect.scoped(run))
    expect(said).toEqual(["Packer v1.9.1", ...places.toSorted()])
  })

  it("is told of with what it lacks: the plugin, the program itself; where machines reach this host; what its licence asks", async () => {
    const told = async (version: string, more: Partial<LocalOptions> = {}) => {
      writeFileSync(join(folder, "real/packer"), `#!/bin/sh\necho "Packer v${version}"\n`)
      const options = { folder, program: join(folder, "home/packer"), storage: "s", isoStorage: "i", address: "192.0.2.254" }
      const all = await Effect.runPromise(builderFindings({ ...options, ...more }))
      return all.map(({ what, detail }) => `${what}: ${detail}`).join("\n")
    }
    const plugins = join(folder, "home/plugins")
    expect(await told("1.9.4")).toContain("Packer 1.9.4 has no built-in builder for Proxmox VE, and packer_plugins is not set")
    expect(await told("1.9.4", { plugins: folder.concat("/work") })).toContain("there is no packer-plugin-proxmox in")
    expect(await told("1.9.4", { program: join(folder, "none") })).toMatch(/templates cannot be built: .*none/u)
    const whole = await told("1.9.4", { plugins })
    expect(whole).toContain("build network: machines fetch their answers from 192.0.2.254, ports 8000 to 9000")
    const named = (version: string) => {
      const old = join(folder, `plugins-${version}`)
      mkdirSync(old)
      writeFileSync(join(old, `packer-plugin-proxmox_v${version}_x5.0_linux_amd64`), "")
      return told("1.9.4", { plugins: old })
    }
    expect(await named("1.1.1")).toContain("those that upload images; 1.1.1 is there")
    expect(await named("1.2.10")).not.toContain("plugin proxmox")
    if (whole.includes("templates cannot be built")) return
    expect(whole).toMatch(/^Packer: Packer 1\.9\.4$/mu)
    expect(await told("1.10.0", { plugins })).toContain("Packer: Packer 1.10.0, whose licence (BUSL) has conditions")
  })
})
