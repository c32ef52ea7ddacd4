/**
 * The cost of reading archives: of valid ones, and of hostile ones for all other users while three members upload them without a pause. The
 * service is the real process. Another process requests its probe at a fixed rate, so that one late answer does not hide those that were
 * due meanwhile.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { tarGz } from "../test/contracts/content/support/archives.ts"
import { hostileTars, noise } from "../test/contracts/content/support/hostile-tar.ts"
import { hostileZips } from "../test/contracts/content/support/hostile-zip.ts"
import { endAll } from "../test/e2e/support/program.ts"
import { type ServiceProcess, startService } from "../test/e2e/support/service.ts"

const goal = 3
const everyMillis = 5
const quick = process.argv.includes("--quick")

/** Runs in a process of its own: sends requests until it is told to stop, and reports how long each answer took. */
const ask = async (url: string): Promise<void> => {
  const times: number[] = []
  let going = true
  process.once("message", () => (going = false))
  const asked: Promise<unknown>[] = []
  for (let due = performance.now(); going; due += everyMillis) {
    await setTimeout(Math.max(0, due - performance.now()))
    const from = due
    asked.push(fetch(url).then(async (answer) => times.push((await answer.text(), performance.now() - from))))
  }
  await Promise.all(asked)
  process.send?.(times)
  process.disconnect()
}

const p99 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN

/** The 99th percentile of the probe's answers while the work goes on, in milliseconds. */
const probeDuring = async (url: string, work: () => Promise<unknown>): Promise<number> => {
  const child = fork(import.meta.filename, ["ask", url])
  await setTimeout(500)
  await work()
  child.send("stop")
  const [times] = (await once(child, "message")) as [number[]]
  return p99(times)
}

/** Text that compresses about as well as roles do. */
const honest = (files: number, bytes: number): Uint8Array => {
  const random = noise(3)
  const words = Array.from({ length: 3000 }, () => random().toString(36).slice(2, 9))
  const text = () => {
    const parts: string[] = []
    for (let size = 0; size < bytes; size += 8) parts.push(words[Math.floor(random() * words.length)] ?? "")
    return parts.join(" ")
  }
  const main = { name: "role/tasks/main.yml", content: "[]\n" }
  return tarGz([main, ...Array.from({ length: files }, (_, n) => ({ name: `role/files/${n % 50}/${n}.yml`, content: text() }))])
}

const newMember = async ({ root }: ServiceProcess, userID: string): Promise<string> =>
  (
    await root.send<{ readonly apiKey: string }>("POST", "/user", {
      userID,
      name: userID,
      email: `${userID.toLowerCase()}@lab.example`,
      isAdmin: false,
    })
  ).apiKey

/** Uploads an archive as a role; returns the status of the answer. */
const upload = async ({ url }: ServiceProcess, key: string, filename: string, bytes: Uint8Array): Promise<number> => {
  const form = new FormData()
  form.set("file", new File([new Uint8Array(bytes)], `acme.${filename}`))
  form.set("force", "true")
  const answer = await fetch(`${url}/api/v2/ansible/role/fromtar`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
  await answer.text()
  return answer.status
}

const main = async (): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  try {
    const service = await startService(join(root, "data"))
    const probe = `${service.url}/healthz`
    const keys: string[] = []
    for (const userID of ["ADA", "BEA", "CAT"]) keys.push(await newMember(service, userID))
    for (const [what, files, bytes] of [
      ["a role of 3 MB", 600, 14_000],
      ["a role of 100 MB", 4000, quick ? 10_000 : 70_000],
    ] as const) {
      const content = honest(files, bytes)
      const start = performance.now()
      const status = await upload(service, keys[0] ?? "", "honest.tgz", content)
      const millis = (performance.now() - start).toFixed(0)
      if (status !== 201) throw new Error(`${what} was answered with ${status}`)
      console.log(`${what} (${(content.length / 1e6).toFixed(1)} MB packed, ${files} files): ${millis} ms`)
    }
    const all = [...hostileTars(join(root, "outside")), ...hostileZips(join(root, "outside"))]
    const chosen = all.filter((_, n) => !quick || n % 20 === 0)
    chosen.forEach(({ bytes }, n) => writeFileSync(join(root, `h${n}`), bytes()))
    const statuses = new Map<number, number>()
    const idle = await probeDuring(probe, () => setTimeout(quick ? 2000 : 10_000))
    const busy = await probeDuring(probe, () =>
      Promise.all(
        keys.map(async (key, whose) => {
          for (const [n, { filename }] of chosen.entries()) {
            if (n % keys.length !== whose) continue
            const status = await upload(service, key, filename, readFileSync(join(root, `h${n}`)))
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }),
      ),
    )
    const ratio = busy / idle
    console.log(`${chosen.length} hostile archives, by status: ${[...statuses].map((each) => each.join(": ")).join(", ")}`)
    console.log(`probe, p99: idle ${idle.toFixed(2)} ms; while they are uploaded ${busy.toFixed(2)} ms`)
    console.log(`ratio ${ratio.toFixed(2)} (goal: at most ${goal}${ratio <= goal ? "" : ", MISSED"})`)
  } finally {
    await endAll()
    rmSync(root, { recursive: true, force: true })
  }
}

if (import.meta.main) await (process.argv[2] === "ask" ? ask(process.argv[3] ?? "") : main())
