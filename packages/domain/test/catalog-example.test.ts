import { expect, test } from "vitest"
import { compile, linesOf, timeout } from "./example.ts"

const example = "catalog-of-a-source.ts"

test("the example for embedders compiles", { timeout }, () => {
  expect(compile(example)).toBe("")
})

test("the example for embedders prints the state of what its source ships", () => {
  expect(linesOf(example)).toEqual([
    "blueprint web 1.1.0: upgrade_available",
    "role acme.hello: not_installed, needed by web",
    "role geerlingguy.docker: upgrade_available, needed by web",
  ])
})
