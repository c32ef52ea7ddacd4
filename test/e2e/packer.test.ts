import { hostsObstacle } from "@rangewright/pve-simulator"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { endAll, repository } from "./support/program.ts"
import { openRealLab, type RealLab } from "./support/real-lab.ts"
import type { Guest } from "./support/simulator.ts"

const missing = ["/usr/bin/packer", "/usr/bin/bwrap"].find((path) => !existsSync(path))
const obstacle = missing === undefined ? await hostsObstacle() : `${missing} is not installed`
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

const version = () =>
  /v(?<number>\d+\.\d+)/u.exec(execFileSync("packer", ["version"], { encoding: "utf8" }))?.groups?.["number"] ?? ""
/** The templates of these tests are written for what Debian has, which brings its builders along. */
const tooNew = obstacle === undefined && Number(version().split(".")[1]) >= 9

const patience = 300_000
const longest = 120_000
const image = "debian-12.11.0-amd64-netinst.iso"

describe.skipIf(obstacle !== undefined || tooNew)(`Packer on real hosts${note}`, { timeout: patience }, () => {
  let lab: RealLab
  let builds = 0

  beforeAll(async () => {
    lab = await openRealLab(60, "root")
    await lab.simulator.post("/nodes/pve/storage/local/download-url", {
      content: "iso",
      filename: image,
      url: `https://images.example/${image}`,
    })
  }, patience)
  afterAll(async () => {
    await endAll()
    removeFolders()
  }, patience)

  interface Build {
    readonly id: string
    readonly child: ChildProcess
    readonly log: () => string
    readonly ended: Promise<number | null>
  }

  const start = (template: string, name: string, what: "build" | "clear" = "build", id?: string): Build => {
    const own = id ?? `run${String((builds += 1)).padStart(12, "0")}`
    const { url, fingerprint, token } = lab.simulator
    const asked = {
      id: own,
      data: lab.data,
      url,
      fingerprint,
      token,
      template: join(repository, "test/e2e/templates", template),
      name,
      what,
    }
    const [program = "", ...before] = lab.place.launcher
    const child = spawn(program, [
      ...before,
      process.execPath,
      join(repository, "test/e2e/programs/build-template.ts"),
      JSON.stringify(asked),
    ])
    let text = ""
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
    const ended = new Promise<number | null>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the build does not end: ${text}`)), longest)
      child.once("close", (code) => {
        clearTimeout(late)
        resolve(code)
      })
    })
    return { id: own, child, log: () => text, ended }
  }

  const guests = () => lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
  const templatesNamed = async (name: string) =>
    (await guests()).filter((guest) => guest.name === name && guest.template === 1 && guest.pool === "SHARED")

  /** Everything that builds leave while they run. */
  const leftovers = async () => {
    const pools = await lab.simulator.read<readonly { readonly poolid: string }[]>("/pools")
    const users = await lab.simulator.read<readonly { readonly userid: string }[]>("/access/users")
    const files = existsSync(join(lab.data, "builds")) ? readdirSync(join(lab.data, "builds")) : []
    return [
      ...pools.flatMap(({ poolid }) => (poolid.startsWith("rw-build-") ? [poolid] : [])),
      ...users.flatMap(({ userid }) => (userid.startsWith("build-") ? [userid] : [])),
      ...(await guests()).flatMap(({ name, pool = "" }) => (pool.startsWith("rw-build-") ? [name] : [])),
      ...files,
      ...(await lab.running()).filter((line) => /packer|bwrap|gate\.py/u.test(line)),
    ]
  }

  /** What root does by hand, to its end. */
  const task = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<void> => {
    const upid = encodeURIComponent(await lab.simulator.post<string>(path, parameters))
    const { exitstatus } = await eventually(
      `the end of ${path}`,
      () => lab.simulator.read<{ readonly exitstatus?: string }>(`/nodes/pve/tasks/${upid}/status`),
      (status) => (status.exitstatus === undefined ? undefined : status),
    )
    expect([path, exitstatus]).toEqual([path, "OK"])
  }

  /** A clone of a template, as it is for whoever logs in. */
  const onClone = async (
    vmid: number,
    name: string,
    line: string,
    login: { readonly username: string; readonly password: string },
  ) => {
    const [template] = await templatesNamed(name)
    await task(`/nodes/pve/qemu/${template?.vmid}/clone`, { newid: String(vmid), name: `clone-${vmid}` })
    await task(`/nodes/pve/qemu/${vmid}/status/start`)
    const address = await eventually(
      "the clone's address",
      () =>
        lab.simulator.read<unknown>(`/nodes/pve/qemu/${vmid}/agent/network-get-interfaces`).then(
          (answer) => JSON.stringify(answer),
          (error: unknown) => String(error),
        ),
      (text) => /192\.0\.2\.\d+/u.exec(text)?.[0],
    )
    return eventually(
      "a login there",
      () => lab.on(address, line, login),
      (ran) => (ran.code === 0 ? ran : undefined),
    )
  }

  it("builds a template from another one; what its provisioner wrote is in machines that are cloned from it", async () => {
    const build = start("small-clone", "small-clone-template")
    expect(await build.ended, build.log()).toBe(0)
    expect(build.log()).toMatch(/==> rangewright: VM \d+ has the address 192\.0\.2\.\d+/u)
    await eventually(
      "the template",
      () => templatesNamed("small-clone-template"),
      (found) => (found.length === 1 ? found : undefined),
    )
    expect(await leftovers()).toEqual([])
    const login = { username: "debian", password: "debian" }
    expect((await onClone(900, "small-clone-template", "cat /etc/made-by-packer", login)).output).toBe("built\n")
  })

  it("builds one from a disc: the installer fetches its answers from the service's host, and becomes the system that they describe", async () => {
    const build = start("small-iso", "small-iso-template")
    expect(await build.ended, build.log()).toBe(0)
    expect(build.log()).toMatch(/==> rangewright: 192\.0\.2\.\d+ fetches \/preseed\.cfg/u)
    expect(await leftovers()).toEqual([])
    const login = { username: "ada", password: "lovelace" }
    expect((await onClone(901, "small-iso-template", "cat /etc/made-by-packer", login)).output).toBe("built from a disc\n")
  })

  it("installs from an image that the service fetched once, whichever build asks", async () => {
    const fetched = () => readFileSync(join(lab.data, "fetched"), "utf8").trim().split("\n")
    const build = start("fetched-iso", "fetched-debian-template")
    expect(await build.ended, build.log()).toBe(0)
    expect(await leftovers()).toEqual([])
    const login = { username: "ada", password: "lovelace" }
    const made = await onClone(902, "fetched-debian-template", "cat /etc/made-by-packer", login)
    expect(made.output).toBe("built from an image of all\n")
    const again = start("fetched-iso", "fetched-debian-template")
    await eventually(
      "its installation",
      async () => again.log(),
      (log) => /fetches \/preseed\.cfg/u.test(log),
    )
    again.child.kill("SIGTERM")
    await again.ended
    expect(again.log()).toContain("small.iso is on the storage already: local:iso/rw-iso-")
    expect(fetched()).toEqual(["https://images.example/12/small.iso"])
    expect(await leftovers()).toEqual([])
    const isos = await lab.simulator.read<readonly { readonly volid: string }[]>("/nodes/pve/storage/local/content?content=iso")
    expect(isos.filter(({ volid }) => volid !== `local:iso/${image}`)).toEqual([
      expect.objectContaining({ volid: expect.stringMatching(/^local:iso\/rw-iso-[0-9a-f]{64}\.iso$/u) as string }),
    ])
  })

  it("gives a hostile template nothing of the service's: no files, no secrets, no network, and no more of the hypervisor than a build may have", async () => {
    const build = start("hostile", "none")
    await build.ended
    const log = build.log()
    const said = (what: string): string => new RegExp(`${what}: (.*)`, "u").exec(log)?.[1] ?? ""
    expect(log).not.toContain(lab.simulator.token.secret)
    expect(said("environment")).toContain("PROXMOX_TOKEN=held-by-the-service")
    expect(said("files")).toMatch(/No such file.*No such file/u)
    expect(Number(said("processes"))).toBeLessThan(20)
    expect(said("written")).toMatch(/Read-only.*Read-only/u)
    expect(said("metadata")).toMatch(/^(?:000|403)$/u)
    expect(said("service")).toMatch(/^(?:000|403)$/u)
    expect(said("loopback")).toBe("000")
    expect(said("rights")).toBe("403")
    expect(said("cores")).toContain("template_build_cores allows a build 16")
    expect(said("machines")).toMatch(/^200 200 403/u)
    expect(log).toContain("rangewright: the build asks for 3 VMs, but template_build_vms allows a build 2")
    expect(log).not.toContain("\u001b")
    expect(log).toMatch(/: red\n/u)
    expect(await leftovers()).toEqual([])
  })

  it("ends a hostile template that answers nobody", async () => {
    const build = start("unending", "unending")
    await eventually(
      "the hostile template's word",
      async () => build.log(),
      (log) => /: never ends/u.test(log),
    )
    build.child.kill("SIGTERM")
    expect(await build.ended, build.log()).toBe(1)
    expect(await leftovers()).toEqual([])
  })

  it.each([
    ["before its VM starts", /Creating VM/u],
    ["while it waits for the machine", /Waiting for SSH/u],
    ["while it works in the machine", /Connected to SSH/u],
  ])("an abort %s leaves nothing", async (_, moment) => {
    const build = start("small-clone", "aborted-template")
    await eventually(
      "the moment of the abort",
      async () => build.log(),
      (log) => moment.test(log),
    )
    build.child.kill("SIGTERM")
    expect(await build.ended, build.log()).toBe(1)
    expect(await leftovers()).toEqual([])
  })

  it.each([
    ["as it begins", /builds killed-template/u],
    ["while its VM is made", /Creating VM/u],
    ["while it waits for the machine", /Waiting for SSH/u],
    ["while it works in the machine", /Connected to SSH/u],
    ["while the template is made", /Stopping VM/u],
  ])("a service that is killed %s leaves no process, and what else it left goes when it is cleared", async (_, moment) => {
    const build = start("small-clone", "killed-template")
    await eventually(
      "the moment of the kill",
      async () => build.log(),
      (log) => moment.test(log),
    )
    build.child.kill("SIGKILL")
    await build.ended
    await eventually(
      "the end of what it started",
      lab.running,
      (lines) => !lines.some((line) => /packer|bwrap|gate\.py/u.test(line)),
    )
    const cleared = start("small-clone", "killed-template", "clear", build.id)
    expect(await cleared.ended, cleared.log()).toBe(0)
    expect(await leftovers()).toEqual([])
    expect(await templatesNamed("killed-template")).toEqual([])
  })
})
