import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import { openAccount } from "../src/playbook/account.ts"
import { failureOf } from "../src/playbook/failure.ts"

const limits = { seconds: 1800, outputBytes: 64 * 2 ** 20, diskBytes: 2 ** 30 }
const account = (failure?: string, lastTask?: string) => ({
  failure: () => failure,
  isLoginRefused: () => false,
  lastTask: () => lastTask,
})
const exited = (code: number) => Option.some({ type: "exited", code } as const)

describe("the outcome of a run of ansible-playbook", () => {
  it("is not a failure when it exits with 0", () => {
    expect(failureOf(limits, exited(0), account(), "a warning")).toBeUndefined()
  })

  it("a machine that was not reached is unreachable; whatever else fails has failed, in the words of its task", () => {
    expect(failureOf(limits, exited(4), account('task "Look" did not reach it: timed out'), "")).toEqual({
      reason: "away",
      detail: 'task "Look" did not reach it: timed out',
    })
    expect(failureOf(limits, exited(2), account('task "Look" failed: no'), "")).toEqual({
      reason: "failed",
      detail: 'task "Look" failed: no',
    })
  })

  it("a playbook that Ansible cannot parse has failed, though the exit code is that of an unreachable machine", () => {
    const said = "ERROR! couldn't resolve module/action 'microsoft.ad.domain'. This often indicates a misspelling"
    const failure = failureOf(limits, exited(4), account(), said)
    expect(failure?.reason).toBe("failed")
    expect(failure?.detail).toContain("has no module of that name in the collection microsoft.ad; install the collection")
    expect(failure?.detail).toContain(said)
  })

  it("without any message, the exit code and the last task are reported", () => {
    expect(failureOf(limits, exited(250), account(undefined, "Install them"), " \n")).toEqual({
      reason: "failed",
      detail: 'Ansible ended with exit code 250; its last task was "Install them"',
    })
  })

  it("a time-out, too much output, an abort, a kill and a failed start are told apart", () => {
    const at = account(undefined, "Wait")
    const of = (end: Parameters<typeof failureOf>[1]) => failureOf(limits, end, at, "")
    expect(of(Option.none())).toEqual({ reason: "timeout", detail: 'it did not end within 30 min; its last task was "Wait"' })
    expect(of(Option.some({ type: "flooded" }))?.detail).toBe('it printed more than 64 MiB; its last task was "Wait"')
    expect(of(Option.some({ type: "cancelled" }))).toMatchObject({ reason: "failed" })
    expect(of(Option.some({ type: "killed", signal: "SIGKILL" }))).toMatchObject({ reason: "away" })
    expect(of(Option.some({ type: "not-started", because: "ENOENT" }))?.detail).toContain("ENOENT")
  })
})

/** What comes of a run whose last task ended with these words, whichever way Ansible tells them. */
const comesOf = (callback: "jsonl" | "default", outcome: "unreachable" | "failed", msg: string) => {
  const told = openAccount(callback, (text) => text)
  if (callback === "jsonl") {
    const task = { name: "Look" }
    told.take(JSON.stringify({ _event: `v2_runner_on_${outcome}`, task, hosts: { web: { msg, [outcome]: true } } }))
  } else {
    told.take("TASK [Look] ****")
    told.take(`fatal: [web]: ${outcome === "failed" ? "FAILED" : "UNREACHABLE"}! => ${JSON.stringify({ msg })}`)
  }
  return failureOf(limits, exited(outcome === "failed" ? 2 : 4), told, "")
}

describe.each(["jsonl", "default"] as const)("a machine that Ansible did not reach, told by the callback %s,", (callback) => {
  it.each([
    ["ssh", "Failed to connect to the host via ssh: ada@10.2.10.11: Permission denied (publickey,password)."],
    ["ssh, asked twice", "Permission denied, please try again."],
    ["ssh, with many keys", "Received disconnect from 10.2.10.11 port 22:2: Too many authentication failures"],
    ["sshpass", "Invalid/incorrect username/password. Skipping remaining 2 retries to prevent account lockout: "],
    ["sshpass, the last time", "Invalid/incorrect password: "],
    ["paramiko", "Failed to authenticate: Authentication failed."],
    ["a device", "Authentication failure."],
    ["winrm", "ntlm: the specified credentials were rejected by the server"],
    ["psrp", "failed to authenticate with the server: no answer to the challenge"],
    ["psrp, by its status", "psrp connection failure: Bad HTTP response returned from the server. Code: 401, Content: ''"],
    ["an HTTP library", "401 Client Error:  for url: https://10.2.10.11:5986/wsman"],
  ])("has refused the login in the words of %s: that has failed and is not tried again", (_, words) => {
    const failure = comesOf(callback, "unreachable", words)
    expect(failure?.reason).toBe("failed")
    expect(failure?.detail).toMatch(/^the login was refused, .*: task "Look" /u)
    expect(failure?.detail).toContain(words.trim())
  })

  it.each([
    ["is silent", "Failed to connect to the host via ssh: connect to host 10.2.10.11 port 22: Connection timed out"],
    ["closes its port", "Failed to connect to the host via ssh: connect to host 10.2.10.11 port 22: Connection refused"],
    ["is behind a filter", "Failed to connect to the host via ssh: connect to host 10.2.10.11 port 22: Permission denied"],
    ["hangs up", "Failed to connect to the host via ssh: Connection closed by 10.2.10.11 port 401"],
    ["starts", '"System is booting up. Unprivileged users are not permitted to log in yet." Permission denied (password).'],
    ["is overloaded", "psrp connection failure: Bad HTTP response returned from the server. Code: 503, Content: ''"],
  ])("is unreachable while it %s", (_, words) => {
    expect(comesOf(callback, "unreachable", words)?.reason).toBe("away")
  })

  it("is told apart from a task that was refused something by others", () => {
    const failure = comesOf(callback, "failed", "git: Permission denied (publickey).")
    expect(failure?.reason).toBe("failed")
    expect(failure?.detail).not.toContain("the login was refused")
  })
})

describe("what a playbook reports", () => {
  it.each([
    ["what a shell printed", { stdout: "told" }, "told"],
    ["the result of PowerShell", { result: { report: "told" }, output: [] }, "told"],
    ["nothing where it is no text", { result: { report: { a: 1 } } }, undefined],
    ["nothing of another task", undefined, undefined],
  ])("is %s", (_what, result, report) => {
    const told = openAccount("jsonl", (text) => text)
    const task = { name: result === undefined ? "Look" : "Report" }
    told.take(JSON.stringify({ _event: "v2_runner_on_ok", task, hosts: { ws: result ?? { stdout: "told" } } }))
    expect(told.report()).toBe(report)
  })
})
