import type { RangeId, User } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { settingsOf } from "../../src/playbook/options.ts"
import type { Site } from "../../src/playbook/site.ts"
import { effectiveInConfig, trustedScope, trustProblem } from "../../src/playbook/trust.ts"
import { found } from "./support/obstacle.ts"

let library: string
beforeAll(async () => {
  library = await mkdtemp(join(tmpdir(), "rw-trust-"))
  for (const role of ["users/alice/roles/mine", "users/root/roles/mine", "global/roles/ours"])
    await mkdir(join(library, role), { recursive: true })
})
afterAll(() => rm(library, { recursive: true, force: true }))

const without = (choice: "auto" | "off" | "required") => ({
  ...found,
  host: { ...found.host, choice, sandbox: { works: false, because: "bwrap: no" } as const },
})
const alice = { id: "alice", isAdmin: false } as User
const admin = { id: "root", isAdmin: true } as User

const problem = (role: string, user: User, configText = "ludus: []\n", choice: "auto" | "off" = "auto", vars = {}) => {
  const task = { stage: "role", input: { role, vars }, name: "LAB-web" } as unknown as GuestTask
  const site = { user, configText, range: { id: "LAB" as RangeId } } as Site
  return trustProblem({ settings: settingsOf({ folder: library, library }), found: without(choice) }, task, site)
}

describe("without a sandbox that there should be", () => {
  it("a member's own role does not run, and neither do templates; what administrators installed does", async () => {
    expect(await problem("mine", alice)).toMatch(/installed by a member.*bwrap: no.*ansible_sandbox/u)
    expect(await problem("ours", alice)).toBeUndefined()
    expect(await problem("mine", admin)).toBeUndefined()
    expect(await problem("ours", alice, "role_vars: {v: \"{{ lookup('pipe', 'id') }}\"}")).toMatch(/has templates/u)
    expect(await problem("ours", admin, "role_vars: {v: \"{{ lookup('pipe', 'id') }}\"}")).toMatch(/has templates/u)
    expect(await problem("ours", alice, undefined, "auto", { v: ["{% x %}"] })).toMatch(/has templates/u)
  })

  it("no configuration sets Ansible's own variables, whoever deploys it, and the refusal names them", async () => {
    const command = "-o ProxyCommand='/bin/sh -c \"id > /tmp/x\"'"
    const text = JSON.stringify({ ludus: [{ role_vars: { ansible_ssh_common_args: command } }] })
    for (const user of [alice, admin])
      expect(await problem("ours", user, text)).toMatch(
        /sets ansible_ssh_common_args: .*bwrap: no\. Remove the variable, .*bubblewrap/u,
      )
    expect(await problem("ours", alice, undefined, "auto", { ansible_connection: "local" })).toMatch(/sets ansible_connection: /u)
    expect(await problem("ours", alice, text, "off")).toBeUndefined()
    expect(
      await problem("ours", alice, 'ludus: [{vm_name: "web", ansible_groups: [web], role_vars: {port: 80}}]'),
    ).toBeUndefined()
  })

  it("a member's own roles and collections are not even looked at", () => {
    expect(trustedScope(without("auto"), alice)).toBeUndefined()
    expect(trustedScope(without("auto"), admin)).toBe("root")
    expect(trustedScope(without("off"), alice)).toBe("alice")
    expect(trustedScope({ host: { ...found.host, sandbox: { works: true } } }, alice)).toBe("alice")
  })

  it("an operator may trust everybody", async () => {
    expect(await problem("mine", alice, "v: '{{ x }}'", "off")).toBeUndefined()
  })
})

describe("a template in a configuration", () => {
  it("is found however it is written", () => {
    for (const text of [
      "a: '{{ x }}'",
      "'{{ x }}': a",
      'a: "\\x7b\\x7b x }}"',
      'a: "\\u007b\\u007b x }}"',
      "a: [b, {c: '{% x %}'}]",
      "a: '{{ range_id ~ x }}'",
      "a: '{{ range_id }}{{ x }}'",
      "a: |\n  #jinja2: variable_start_string:'[%'\n  [% x %]",
      "a: &x '{{ y }}'\nb: *x",
      "a: [",
      'a: b # c\u2028d: "\\x7b\\x7b x }}"',
      'a: b # c\u0085d: "\\x7b\\x7b x }}"',
      'a: b # c\rd: "\\x7b\\x7b x }}"',
      "a: !!binary e3sgeCB9fQ==\nb: '{{ z }}'",
    ])
      expect(effectiveInConfig(text).templates, text).toBe(true)
  })

  it("is not the range's own id, which every configuration has", () => {
    const text = 'ludus:\r\n  - {vm_name: "{{ range_id }}-web", hostname: "{{range_id}}", vlan: 10}\r\n'
    expect(effectiveInConfig(text).templates).toBe(false)
  })
})

describe("a variable of Ansible itself", () => {
  const variablesOf = (text: string) => effectiveInConfig(text).variables

  it("is found however it is written", () => {
    for (const text of [
      "global_role_vars: {ansible_connection: local}",
      "router: {role_vars: {ansible_connection: local}}",
      'ludus: [{role_vars: {"\\x61nsible_connection": local}}]',
      "x: &x {ansible_connection: local}\nludus: [{role_vars: {<<: *x}}]",
      "x: &x ansible_connection\nludus: [{role_vars: {? *x : local}}]",
      "ludus: [{role_vars: {hosts: [{ansible_connection: local}]}}]",
    ])
      expect(variablesOf(text), text).toEqual(["ansible_connection"])
  })

  it("is neither a key of machines nor a value", () => {
    expect(variablesOf("ludus: [{ansible_groups: [ansible_hosts], role_vars: {ansible: 1, v: ansible_user}}]")).toEqual([])
  })
})
