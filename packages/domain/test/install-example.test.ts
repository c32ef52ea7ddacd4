import { expect, test } from "vitest"
import { compile, linesOf, timeout } from "./example.ts"

const example = "plan-an-installation.ts"

test("the example for embedders compiles", { timeout }, () => {
  expect(compile(example)).toBe("")
})

test("the example for embedders prints what would be done, without force and with it", () => {
  expect(linesOf(example)).toEqual([
    "create blueprint acme-labs/web",
    "differs local_role acme.hello: version 1.0.0 is there",
    "place role pub.docker",
    "create blueprint acme-labs/web",
    "replace local_role acme.hello",
    "place role pub.docker",
  ])
})
