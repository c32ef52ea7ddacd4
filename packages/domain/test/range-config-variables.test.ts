import fc from "fast-check"
import { expect, test } from "vitest"
import { renderName, renderString } from "../src/range/config/index.ts"

const variables = { rangeId: "LAB", rangeNumber: 7 }

test("the range's ID is filled into names, with any blanks and in any case", () => {
  for (const text of ["{{range_id}}-a", "{{ range_id }}-a", "{{  RANGE_ID\t}}-a"])
    expect(renderName(text, variables)).toBe("LAB-a")
  expect(renderName("{{ range_second_octet }} {{ range_ids }} {range_id}", variables)).toBe(
    "{{ range_second_octet }} {{ range_ids }} {range_id}",
  )
  expect(renderName("{{ range_id }}", { rangeId: "$&$1" })).toBe("$&$1")
})

test("what only Ansible can evaluate stays, and the text counts as incomplete", () => {
  expect(renderString("10.{{ range_second_octet }}.20.5 of {{ range_id }}", variables)).toEqual({
    text: "10.7.20.5 of LAB",
    complete: true,
  })
  for (const text of ["{{ other }}", "{{ range_id | lower }}", "{% if x %}a{% endif %}", "{# c #}", "{{ lookup('env', 'X') }}"])
    expect(renderString(text, variables)).toEqual({ text, complete: false })
})

test("text without expressions stays as it is", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/\{[{%#]/u.test(text))
      expect(renderName(text, variables)).toBe(text)
      expect(renderString(text, variables)).toEqual({ text, complete: true })
    }),
  )
})
