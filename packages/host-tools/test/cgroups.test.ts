import * as Effect from "effect/Effect"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Cgroups, findCgroups, openCgroup } from "../src/cgroups.ts"
import { runCommand } from "../src/run-command.ts"

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rw-cgroups-"))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const unit = "/system.slice/rangewright.service"

/** A tree of files as the kernel shows one; they remember what is written to them. */
const shown = async (files: Readonly<Record<string, string>>): Promise<Cgroups> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return findCgroups(join(root, "fs"), join(root, "proc"))
}
const read = (path: string): Promise<string> => readFile(join(root, path), "utf8")

const limits = { processes: 64, memoryBytes: 64 * 2 ** 20 }

describe("control groups of the second version", () => {
  const delegated = {
    "proc/self/cgroup": `0::${unit}\n`,
    [`fs${unit}/cgroup.controllers`]: "cpu memory pids\n",
    [`fs${unit}/cgroup.subtree_control`]: "",
    [`fs${unit}/cgroup.procs`]: "4711\n",
    [`fs${unit}/service/cgroup.procs`]: "",
  }

  it("are used in the subtree that is delegated to the unit, where the service moves into a leaf", async () => {
    const found = await shown(delegated)
    expect(found).toMatchObject({ hierarchies: [{ folder: join(root, "fs", unit) }] })
    expect(await read(`fs${unit}/service/cgroup.procs`)).toBe("4711")
    expect(await read(`fs${unit}/cgroup.subtree_control`)).toBe("+pids +memory")
  })

  it("are reported as missing when the subtree cannot be subdivided", async () => {
    const { [`fs${unit}/service/cgroup.procs`]: _, ...rest } = delegated
    expect(await shown({ ...rest, [`fs${unit}/service/cgroup.procs/busy`]: "" })).toEqual({
      because: expect.stringContaining("its control group cannot be subdivided") as string,
    })
  })

  it("limit processes and memory of a run, swap too", async () => {
    const found = await shown(delegated)
    const group = Effect.gen(function* () {
      const { joins } = yield* openCgroup(found, limits)
      const folder = dirname(joins[0] ?? "")
      yield* Effect.promise(async () => {
        expect(await readFile(join(folder, "pids.max"), "utf8")).toBe("64")
        expect(await readFile(join(folder, "memory.max"), "utf8")).toBe(String(limits.memoryBytes))
        expect(await readFile(join(folder, "memory.swap.max"), "utf8")).toBe("0")
        // what these files stand for goes with the folder in the kernel
        for (const name of await readdir(folder)) await rm(join(folder, name))
      })
      return folder
    })
    const folder = await Effect.runPromise(Effect.scoped(group))
    await expect(readdir(folder)).rejects.toThrow("ENOENT")
  })

  it("are left alone when they are not delegated, with the reason", async () => {
    expect(await shown({ "proc/self/cgroup": "0::/user.slice/session-1.scope\n" })).toEqual({
      because: expect.stringContaining("not delegated") as string,
    })
    expect(await shown({ ...delegated, [`fs${unit}/cgroup.controllers`]: "cpu pids\n" })).toEqual({
      because: expect.stringContaining("cannot limit memory") as string,
    })
    expect(await shown({ "proc/self/cgroup": "" })).toEqual({ because: expect.stringContaining("no control groups") as string })
  })
})

const host = await findCgroups()
const obstacle = "because" in host ? host.because : undefined
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

describe.skipIf(obstacle !== undefined)(`control groups of this host${note}`, { timeout: 60_000 }, () => {
  const run = (script: string) => {
    const lines: string[] = []
    const work = Effect.gen(function* () {
      const { joins } = yield* openCgroup(host, limits)
      const env = { PATH: "/usr/bin:/bin", HOME: join(root, "home") }
      const command = { program: "/bin/sh", args: ["-c", script], env, folder: root, joins }
      const end = yield* runCommand(command, 1e6, (_, line) => void lines.push(line))
      return { end, lines, joins }
    })
    return Effect.runPromise(Effect.scoped(work))
  }

  it("a tool that keeps starting processes is stopped at its limit", async () => {
    const bomb = `python3 -c 'import os, time
started = 0
try:
    for _ in range(500):
        if os.fork() == 0: time.sleep(60); os._exit(0)
        started += 1
except OSError: pass
print(started)'`
    const { lines, joins } = await run(bomb)
    expect(Number(lines.at(-1))).toBeGreaterThan(10)
    expect(Number(lines.at(-1))).toBeLessThan(limits.processes)
    // the run is over, and so is all that it started
    for (const file of joins) await expect(readFile(file)).rejects.toThrow("ENOENT")
  })

  it("a tool whose processes take too much memory together is ended", async () => {
    // each keeps its memory until the last has told that it has its own, or is gone: the kernel may end one that has told
    const hog = `python3 -c 'import os
pipes = []
for _ in range(8):
    told, tell = os.pipe(); kept, keep = os.pipe()
    pid = os.fork()
    if pid == 0:
        for _, _, other in pipes: os.close(other)
        os.close(told); os.close(keep)
        memory = bytearray(16 * 2**20); os.write(tell, b"."); os.read(kept, 1); os._exit(0)
    os.close(tell); os.close(kept); pipes.append((pid, told, keep))
for _, told, _ in pipes: os.read(told, 1)
for _, _, keep in pipes: os.close(keep)
print("kept it:", sum(os.waitpid(pid, 0)[1] == 0 for pid, _, _ in pipes))'`
    const { lines } = await run(hog)
    expect(lines).not.toContain("kept it: 8")
  })

  it("a tool that cannot join its group is not started", async () => {
    const env = { PATH: "/usr/bin:/bin", HOME: join(root, "home") }
    const command = { program: "/bin/sh", args: ["-c", "echo ran"], env, folder: root, joins: [join(root, "no/such/group")] }
    const end = await Effect.runPromise(runCommand(command, 1e6, () => undefined))
    expect(end).toEqual({ type: "not-started", because: "its control group cannot be joined" })
  })
})
