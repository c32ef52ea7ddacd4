import type { RunEvent } from "@rangewright/application/wire"
import { expect, test } from "vitest"
import { Log } from "../src/log/log.ts"

const at = "2026-01-01T00:00:00.000Z"
const output = (seq: number, text: string): RunEvent => ({ seq, at, type: "Output", key: "role:web01", text })

test("events repeated after an interruption are processed once", () => {
  const log = new Log()
  log.take([output(1, "one\n"), output(2, "two\nthree\n")])
  log.take([output(2, "two\nthree\n"), output(3, "four\n")])
  expect(log.text).toEqual(["role:web01", "one", "two", "three", "four"])
  expect(log.seq).toBe(3)
})

test("errors are found: failed steps, and what Ansible calls fatal", () => {
  const log = new Log()
  log.take([
    output(1, "\u001b[0;31mfatal: [web01]: FAILED! => {}\u001b[0m\nok\n"),
    { seq: 2, at, type: "StepFailed", key: "x", final: true, failure: { fault: "Failed", message: "no route", hint: "look" } },
  ])
  expect(log.errors.map((line) => log.text[line])).toEqual(["\u001b[0;31mfatal: [web01]: FAILED! => {}\u001b[0m", "x: no route"])
})

test("text is found without regard to case and colours", () => {
  const log = new Log()
  log.take([output(1, "a\nThe Nee\u001b[31mdle\u001b[0m\nb\n")])
  expect(log.find("needle")).toEqual([2])
})
