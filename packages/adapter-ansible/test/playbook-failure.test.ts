import * as Option from "effect/Option"
import { describe, expect, it } from "vitest"
import { failureOf } from "../src/playbook/failure.ts"

const limits = { seconds: 1800, outputBytes: 64 * 2 ** 20 }
const account = (failure?: string, lastTask?: string) => ({ failure: () => failure, lastTask: () => lastTask })
const exited = (code: number) => Option.some({ type: "exited", code } as const)

describe("what a run of ansible-playbook came to", () => {
  it("is no failure where it ends with 0", () => {
    expect(failureOf(limits, exited(0), account(), "a warning")).toBeUndefined()
  })

  it("a machine that was not reached is away; whatever else fails has failed, in the words of its task", () => {
    expect(failureOf(limits, exited(4), account('task "Look" did not reach it: timed out'), "")).toEqual({
      reason: "away",
      detail: 'task "Look" did not reach it: timed out',
    })
    expect(failureOf(limits, exited(2), account('task "Look" failed: no'), "")).toEqual({
      reason: "failed",
      detail: 'task "Look" failed: no',
    })
  })

  it("a playbook that Ansible does not understand has failed, though the exit code is that of a machine away", () => {
    const said = "ERROR! couldn't resolve module/action 'microsoft.ad.domain'. This often indicates a misspelling"
    const failure = failureOf(limits, exited(4), account(), said)
    expect(failure?.reason).toBe("failed")
    expect(failure?.detail).toContain("has no module of that name in the collection microsoft.ad; install the collection")
    expect(failure?.detail).toContain(said)
  })

  it("without any words, the exit code and the last task are told", () => {
    expect(failureOf(limits, exited(250), account(undefined, "Install them"), " \n")).toEqual({
      reason: "failed",
      detail: 'Ansible ended with exit code 250; its last task was "Install them"',
    })
  })

  it("too long, too much, aborted, ended by somebody else and not started at all are told apart", () => {
    const at = account(undefined, "Wait")
    const of = (end: Parameters<typeof failureOf>[1]) => failureOf(limits, end, at, "")
    expect(of(Option.none())).toEqual({ reason: "timeout", detail: 'it did not end within 30 min; its last task was "Wait"' })
    expect(of(Option.some({ type: "flooded" }))?.detail).toBe('it printed more than 64 MiB; its last task was "Wait"')
    expect(of(Option.some({ type: "cancelled" }))).toMatchObject({ reason: "failed" })
    expect(of(Option.some({ type: "killed", signal: "SIGKILL" }))).toMatchObject({ reason: "away" })
    expect(of(Option.some({ type: "not-started", because: "ENOENT" }))?.detail).toContain("ENOENT")
  })
})
