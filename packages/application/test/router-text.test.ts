import { beingTold } from "@rangewright/ports"
import { expect, it } from "vitest"
import { routerText } from "../src/wire/access.ts"

it.each([
  [[3], [3, 4], "the router of LAB lets in user number 3 instead of user numbers 3, 4"],
  [[beingTold, 3, 4], [3, 4], "the router of LAB may let in user numbers 3, 4 and others"],
  [[beingTold], [], "the router of LAB may still let somebody in"],
  [[beingTold, 3], [], "the router of LAB may let in user number 3 instead of nobody"],
])("a router that was told to let in %j, and should %j", (letsIn, shouldLetIn, text) => {
  const range = { id: "LAB" } as unknown as Parameters<typeof routerText>[0]["range"]
  expect(routerText({ range, isRunning: true, letsIn, shouldLetIn })).toBe(text)
})
