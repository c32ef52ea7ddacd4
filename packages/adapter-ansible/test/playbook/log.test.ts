import { coverOf, parseRangeConfig } from "@rangewright/domain"
import * as Result from "effect/Result"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openAccount } from "../../src/playbook/account.ts"
import { configSecrets } from "../../src/playbook/config-secrets.ts"
import { logLines } from "../../src/playbook/log-lines.ts"
import { collections, found, patience, skipNote } from "./support/obstacle.ts"

const asItIs = (text: string): string => text

const noEvents = found.because ?? (found.collections.has("ansible.posix") ? undefined : "the collection ansible.posix is missing")

const playbook = `- name: All that can happen
  hosts: all
  gather_facts: false
  tasks:
    - name: Say something
      ansible.builtin.debug: {msg: hello}
    - name: Change something for each
      ansible.builtin.command: echo {{ item }}
      loop: [one, two]
      notify: Tell of it
    - name: Leave it
      ansible.builtin.command: echo
      when: false
    - name: Leave some
      ansible.builtin.debug: {msg: "{{ item }}"}
      loop: [1, 2]
      when: item == 2
    - name: Fail and go on
      ansible.builtin.command: "false"
      ignore_errors: true
    - name: Keep it to itself
      ansible.builtin.command: echo secret
      no_log: true
    - ansible.builtin.meta: flush_handlers
    - name: Fail for one of two
      ansible.builtin.command: test {{ item }} = a
      loop: [a, b]
      ignore_errors: true
    - name: Fail
      ansible.builtin.fail: {msg: no way}
  handlers:
    - name: Tell of it
      ansible.builtin.debug: {msg: it changed}
`

/** What differs from run to run. */
const timeless = (text: string): string =>
  text
    .replaceAll(/"(?:start|end|delta)": ?"[^"]*"/gu, '"time": "T"')
    .replaceAll(/": /gu, '":')
    .replaceAll(/", /gu, '",')
    .replaceAll(/, "/gu, ',"')
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()

describe("the log of a run", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rw-log-"))
    await writeFile(join(folder, "play.yml"), playbook)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const run = (callback: string): Promise<string> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        ANSIBLE_COLLECTIONS_PATH: [...collections, ...found.collectionFolders].join(":"),
        ANSIBLE_STDOUT_CALLBACK: callback,
        ANSIBLE_NOCOLOR: "1",
      }
      const args = ["--inventory", "host-a,", "--connection", "local", join(folder, "play.yml")]
      execFile("ansible-playbook", args, { env, cwd: folder }, (_error, stdout) => resolve(stdout))
    })

  it.skipIf(noEvents !== undefined)(
    `is made of events, and is what Ansible prints for people${skipNote(noEvents)}`,
    { timeout: patience },
    async () => {
      const account = openAccount("jsonl", asItIs)
      const made = (await run("ansible.posix.jsonl"))
        .trimEnd()
        .split("\n")
        .flatMap((line) => account.take(line))
      const lines = (text: string) => timeless(text).split("\n")
      // the order of a failure's fields tells nothing
      const sorted = (line: string) => line.replace(/\{.*\}$/u, (fields) => [...fields].toSorted().join(""))
      expect(lines(made.join("\n")).map(sorted)).toEqual(lines(await run("default")).map(sorted))
      expect(account.changed()).toBe(true)
      expect(account.failure()).toBe('task "Fail" failed: no way')
      expect(account.lastTask()).toBe("Fail")
      expect(account.tasks()).toMatchObject({ ok: 3, changed: 2, skipped: 1, failed: 3, slowest: [{}, {}, {}, {}, {}] })
    },
  )

  it.skipIf(found.because !== undefined)(
    `can be read without events too${skipNote(found.because)}`,
    { timeout: patience },
    async () => {
      const account = openAccount("default", asItIs)
      const printed = await run("default")
      expect(
        printed
          .split("\n")
          .flatMap((line) => account.take(line))
          .join("\n"),
      ).toBe(printed)
      expect(account.changed()).toBe(true)
      expect(account.failure()).toContain('task "Fail" failed: fatal: [host-a]: FAILED!')
    },
  )

  it("lines that are no events are kept as they are", () => {
    const { take, changed } = openAccount("jsonl", asItIs)
    for (const line of ["plain", "{", '{"a": 1}', '{"_event": 5}', '{"_event": "unknown"}', "[WARNING]: x"])
      expect(take(line)).toEqual(line.includes('"unknown"') ? [] : [line])
    expect(changed()).toBeUndefined()
  })

  it("what is kept of a run beside its log holds no secret: names of tasks, reasons, wherever they are cut", () => {
    const cover = coverOf({ admin_password: "HALF-0123456789", pin: 987_654 })
    const told = ["jsonl", "default"].map((callback) => {
      const account = openAccount(callback as "jsonl" | "default", cover)
      const task = {
        name: "Log in with HALF-0123456789",
        duration: { start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:00:01Z" },
      }
      const result = { msg: `${"x".repeat(100)}HALF-0123456789${"y".repeat(1490)} 987654`, failed: true, _ansible_no_log: false }
      const events = [
        { _event: "v2_playbook_on_task_start", task, hosts: {} },
        { _event: "v2_runner_on_failed", task, hosts: { web: result } },
      ]
      for (const event of events) account.take(JSON.stringify(event))
      account.take("TASK [Log in with HALF-0123456789] ****")
      account.take(`fatal: [web]: FAILED! => ${JSON.stringify(result)}`)
      return [account.failure(), account.lastTask(), JSON.stringify(account.tasks() ?? {})]
    })
    expect(told.map(([failure]) => failure)).toEqual([
      expect.stringMatching(/task "Log in with \*\*\*" failed: /u),
      expect.stringMatching(/task "Log in with \*\*\*" failed: /u),
    ])
    expect(told.map(([, last]) => last)).toEqual(["Log in with ***", "Log in with ***"])
    expect(told[0]?.[2]).toContain('"slowest":[{"task":"Log in with ***"')
    expect(told.flat().join("\n")).not.toMatch(/0123456789|987654/u)
  })

  it("megabytes in one line or name are searched for secrets only as far as they are kept", () => {
    const cover = coverOf({ password: Array.from({ length: 2000 }, (_, at) => `aaaaaaaa${at}`) })
    const log = logLines(cover, 1e6)
    const long = "a".repeat(4_000_000)
    for (let left = 5; left > 0; left--) log.add([long])
    expect(log.take().split("\n")[4]).toBe(`${"a".repeat(16 * 1024)} … (4000000 characters)`)
    const account = openAccount("jsonl", cover)
    const result = { msg: `${long}!`, failed: true }
    account.take(JSON.stringify({ _event: "v2_runner_on_failed", task: { name: long }, hosts: { web: result } }))
    expect(account.failure()?.length).toBeLessThan(3000)
    expect(account.failure()).toMatch(/a!$/u)
  })

  it("an event that is too long to be read is reported in a line", () => {
    expect(openAccount("jsonl", asItIs).take('{"_event": "v2_run', true)).toEqual([
      "[the result of a task is omitted: it is too long]",
    ])
  })

  it("secrets of a configuration are told from the passwords that every installation has", () => {
    const parsed = parseRangeConfig(`ludus:
  - vm_name: web
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 5
    ram_gb: 2
    cpus: 2
    linux: true
    role_vars: {db_password: of-the-database, size: large}
defaults: {ad_domain_admin_password: of-the-chief}
notify: {urls: ["slack://token-a/token-b"]}
`)
    const secrets = Result.isSuccess(parsed) ? configSecrets(parsed.success.config) : []
    expect(secrets.toSorted()).toEqual(["of-the-chief", "of-the-database", "slack://token-a/token-b"])
  })

  it("a full log still tells what failed and how it ended", () => {
    const log = logLines((text) => text, 100)
    log.add(["x".repeat(90), "y".repeat(90), "z", "fatal: [a]: FAILED! => {}", "PLAY RECAP ***", "a    : ok=1    changed=0"])
    expect(log.take().split("\n")).toEqual(["x".repeat(90), "y".repeat(90), "[the rest is omitted: more than 0 KiB]", ""])
    const roomy = logLines((text) => text, 100)
    roomy.add(["x".repeat(101), "left out", "fatal: [a]: FAILED! => {}"])
    expect(roomy.take()).toBe(`${"x".repeat(101)}\n[the rest is omitted: more than 0 KiB]\nfatal: [a]: FAILED! => {}\n`)
    expect(roomy.take()).toBe("")
  })

  it("one line is never longer than people read, and is masked before it is cut", () => {
    const log = logLines((text) => text.replaceAll("secret", "***"), 1e6)
    log.add([`${"a".repeat(16 * 1024 - 3)}secret`])
    expect(log.take()).not.toContain("sec")
  })
})
