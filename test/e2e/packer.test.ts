import { hostsObstacle } from "@rangewright/pve-simulator"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Build, type Builder, processesOf, startBuilder } from "./support/builder.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { endAll } from "./support/program.ts"
import { openRealLab, type RealLab } from "./support/real-lab.ts"
import type { Guest } from "./support/simulator.ts"

const missing = ["/usr/bin/packer", "/usr/bin/bwrap"].find((path) => !existsSync(path))
const obstacle = missing === undefined ? await hostsObstacle() : `${missing} is not installed`
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

const version = () =>
  /v(?<number>\d+\.\d+)/u.exec(execFileSync("packer", ["version"], { encoding: "utf8" }))?.groups?.["number"] ?? ""
/** The templates of these tests need the Packer that Debian ships, which includes its builders. */
const tooNew = obstacle === undefined && Number(version().split(".")[1]) >= 9

const patience = 300_000

describe.skipIf(obstacle !== undefined || tooNew)(`Packer on real hosts${note}`, { timeout: patience }, () => {
  let lab: RealLab
  let builder: Builder

  beforeAll(async () => {
    lab = await openRealLab(180, "root")
    builder = startBuilder(lab)
  }, patience)
  afterAll(async () => {
    builder?.leave()
    await endAll()
    removeFolders()
  }, patience)

  const guests = () => lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
  const templatesNamed = async (name: string) =>
    (await guests()).filter((guest) => guest.name === name && guest.template === 1 && guest.pool === "SHARED")

  /** Remains of one build, or of any. */
  const leftovers = async (build?: Build) => {
    const pools = await lab.simulator.read<readonly { readonly poolid: string }[]>("/pools")
    const users = await lab.simulator.read<readonly { readonly userid: string }[]>("/access/users")
    const { id = "" } = build ?? {}
    return [
      ...pools.flatMap(({ poolid }) => (poolid.startsWith(`rw-build-${id}`) ? [poolid] : [])),
      ...users.flatMap(({ userid }) => (userid.startsWith(`build-${id}`) ? [userid] : [])),
      ...(await guests()).flatMap(({ name, pool = "" }) => (pool.startsWith(`rw-build-${id}`) ? [name] : [])),
      ...readdirSync(join(lab.data, "builds")).filter((name) => name.startsWith(id)),
      ...processesOf(lab, id).map(([, line]) => line),
    ]
  }
  const start = (template: string, name = `${template}-template`) => builder.build(template, name)

  /** Does something as root, by hand, and waits for its end. */
  const task = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<void> => {
    const upid = encodeURIComponent(await lab.simulator.post<string>(path, parameters))
    const { exitstatus } = await eventually(
      `the end of ${path}`,
      () => lab.simulator.read<{ readonly exitstatus?: string }>(`/nodes/pve/tasks/${upid}/status`),
      (status) => (status.exitstatus === undefined ? undefined : status),
    )
    expect([path, exitstatus]).toEqual([path, "OK"])
  }

  /** A clone of a template, as a user who logs in sees it. */
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

  it.concurrent("installs from an image that the service fetches once for all builds, and builds the system that its answer file describes", async () => {
    const build = start("fetched-iso")
    const again = start("fetched-iso", "fetched-again-template")
    await again.says(/fetches \/preseed\.cfg/u)
    again.abort()
    expect([await build.ended, await again.ended], build.log()).toEqual(["built", "not built"])
    expect(build.log()).toMatch(/==> rangewright: 192\.0\.2\.\d+ fetches \/preseed\.cfg/u)
    expect([await leftovers(build), await leftovers(again)]).toEqual([[], []])
    const login = { username: "ada", password: "lovelace" }
    const made = await onClone(902, build.name, "cat /etc/made-by-packer", login)
    expect(made.output).toBe("built from an image of all\n")
    expect(`${build.log()}${again.log()}`).toContain("small.iso is on the storage already: local:iso/rw-iso-")
    expect(readFileSync(join(lab.data, "fetched"), "utf8")).toBe("https://images.example/12/small.iso\n")
    const isos = await lab.simulator.read<readonly { readonly volid: string }[]>("/nodes/pve/storage/local/content?content=iso")
    expect(isos.flatMap(({ volid }) => (volid.includes("rw-iso-") ? [volid] : []))).toEqual([
      expect.stringMatching(/^local:iso\/rw-iso-[0-9a-f]{64}\.iso$/u),
    ])
  })

  it.concurrent("gives a hostile template no files, secrets or network of the service, and on the hypervisor only what a build may have", async () => {
    const build = start("hostile")
    await build.ended
    const log = build.log()
    const said = (what: string): string => new RegExp(`${what}: (.*)`, "u").exec(log)?.[1] ?? ""
    expect(log).not.toContain(lab.simulator.token.secret)
    expect(said("environment")).toContain("PROXMOX_TOKEN=held-by-the-service")
    expect(said("files")).toMatch(/No such file.*No such file/u)
    // as Packer makes the discs of cd_files
    expect(said("disc")).toContain("Cannot determine attributes of source file '/etc/shadow'")
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
    expect(await leftovers(build)).toEqual([])
  })

  it.concurrent.each(["hostile-image", "hostile-function"])("reads no file of the service's host for %s", async (template) => {
    const build = start(template)
    expect(await build.ended, build.log()).toBe("not built")
    expect(build.log()).toMatch(/no such file or directory|no file exists/iu)
    expect(build.log()).not.toContain("root:")
    expect(await leftovers(build)).toEqual([])
  })

  it.concurrent("ends a hostile template that never responds", async () => {
    const build = start("unending")
    await build.says(/: never ends/u)
    build.abort()
    expect(await build.ended, build.log()).toBe("not built")
    expect(await leftovers(build)).toEqual([])
  })

  it.concurrent("aborting a build that is connected to its machine leaves nothing behind", async () => {
    const build = start("small-clone", "aborted")
    await build.says(/Connected to SSH/u)
    build.abort()
    expect(await build.ended, build.log()).toBe("not built")
    expect(await leftovers(build)).toEqual([])
    expect(await templatesNamed(build.name)).toEqual([])
  })

  const packerOf = (build: Build) =>
    processesOf(lab, build.id).find(([, line]) => /^(?:\/usr\/bin\/)?packer\0build\0/u.test(line))?.[0]
  /** Returns nothing if the build ended by itself in the meantime. */
  const killPacker = (build: Build) => {
    const packer = packerOf(build)
    try {
      if (packer !== undefined) process.kill(packer, "SIGKILL")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
  const vmIs = (is: (guest: Guest) => boolean) => (build: Build) =>
    Promise.race([
      eventually("the VM's state", guests, (all) => all.some((guest) => guest.name === build.name && is(guest))),
      build.ended.then(() => Promise.reject(new Error(`the build ended before: ${build.log()}`))),
    ])
  const logSays = (pattern: RegExp) => (build: Build) => build.says(pattern)
  /** Each moment, recognized by something visible in the build. */
  const moments: readonly (readonly [what: string, moment: (build: Build) => Promise<unknown>])[] = [
    ["when it begins", (build) => eventually("Packer", async () => packerOf(build), Boolean)],
    ["when it asks for a VM", logSays(/Creating VM/u)],
    ["when there is a VM", vmIs(() => true)],
    ["when it starts the VM", logSays(/Starting VM/u)],
    ["when the VM runs", vmIs(({ status }) => status === "running")],
    ["when it waits for the machine", logSays(/Waiting for SSH/u)],
    ["when the machine has an address", logSays(/has the address/u)],
    ["when it is connected", logSays(/Connected to SSH/u)],
    ["while it provisions", logSays(/Provisioning with shell script/u)],
    ["while its script runs", logSays(/password for debian/u)],
    ["when it stops the VM", logSays(/Stopping VM/u)],
    ["when it makes the template", logSays(/Converting VM to template/u)],
  ]
  it.concurrent.each(moments)(
    "Packer killed %s leaves one template or none and nothing else, and the log says so",
    async (what, moment) => {
      const build = start("small-clone", `killed-${what.replaceAll(" ", "-")}`)
      await moment(build)
      killPacker(build)
      const end = await build.ended
      // the log is read once a second, and after the address a build may take less time: these may end before the kill
      if (!moments.slice(-6).some(([late]) => late === what)) expect(end, build.log()).toBe("not built")
      expect(build.log()).toMatch(end === "built" ? /Builds finished/u : /Packer was killed/u)
      expect(await templatesNamed(build.name), build.log()).toHaveLength(end === "built" ? 1 : 0)
      expect(await leftovers(build)).toEqual([])
    },
  )

  // after all others: their builds would end with it
  it("a killed service leaves no process, however far its builds are, and clearing removes everything else it left", async () => {
    const far = start("small-clone", "left-far")
    await far.says(/Waiting for SSH/u)
    const half = start("small-clone", "left-half")
    await half.says(/Creating VM/u)
    const fresh = start("small-clone", "left-fresh")
    await Promise.all([far.says(/Connected to SSH/u), eventually("Packer", async () => packerOf(fresh), Boolean)])
    const builds = [far, half, fresh]
    // on a busy machine the last builds may finish before the kill
    const made: string[] = []
    for (const { name, ended } of builds) void ended.then((how) => how === "built" && made.push(name))
    await builder.kill()
    await eventually(
      "the end of what it had started",
      async () => builds.flatMap(({ id }) => processesOf(lab, id)),
      (left) => left.length === 0,
    )
    builder = startBuilder(lab)
    expect(await Promise.all(builds.map(({ id }) => builder.clear(id)))).toEqual(["built", "built", "built"])
    expect(await leftovers()).toEqual([])
    const left = (await guests()).filter(({ name }) => builds.some((build) => build.name === name))
    expect(left.map(({ name }) => name).toSorted()).toEqual(made.toSorted())
  })
})
