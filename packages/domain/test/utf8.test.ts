import { blueprintBytes } from "@rangewright/domain"
import { expect, test } from "vitest"

const bytesOf = (config: string): number => blueprintBytes({ config, requirements: undefined, picture: undefined })

test.each([
  ["", 0],
  ["a\u007f", 2],
  ["\u0080\u07ff", 4],
  ["\u0800\uffff", 6],
  ["\u{10000}\u{10ffff}", 8],
  // what is no character is kept as U+FFFD
  ["\ud800a\udc00", 7],
])("the bytes of %j are %i", (text, bytes) => {
  expect(bytesOf(text)).toBe(bytes)
  expect(Buffer.byteLength(text)).toBe(bytes)
})

test("the bytes of a long text are counted in a moment: the service does nothing else meanwhile", () => {
  const text = "\u6f22".repeat(1_000_000)
  const counted = () => {
    const began = performance.now()
    expect(bytesOf(text)).toBe(3_000_000)
    return performance.now() - began
  }
  // the best of some: other processes may take the processor in between
  expect(Math.min(...Array.from({ length: 5 }, counted))).toBeLessThan(500)
})
