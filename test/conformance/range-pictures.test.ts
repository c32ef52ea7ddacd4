import { afterEach, beforeEach, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex")
const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
const record = () => [...service.store.ranges.values()].find(({ id }) => id === "R1")!.recordId

type Part = string | { readonly bytes: Buffer; readonly name: string }
const patch = (...parts: readonly (readonly [string, Part])[]) => {
  const form = new FormData()
  for (const [name, part] of parts)
    form.append(name, typeof part === "string" ? part : new File([Uint8Array.from(part.bytes)], part.name, { type: "image/png" }))
  return fetch(`${service.url}/api/collections/ranges/records/${record()}`, {
    method: "PATCH",
    headers: { "x-api-key": service.keys.member },
    body: form,
  })
}

it("a form sets texts and the picture of a range; browsers get it as the kind of picture that it is", async () => {
  const answer = await patch(["description", ""], ["purpose", "training"], ["thumbnail", { bytes: png, name: "../../a.svg" }])
  const { thumbnail, ...said } = (await answer.json()) as { readonly thumbnail: string }
  expect([answer.status, said]).toMatchObject([200, { rangeID: "R1", description: "", purpose: "training" }])
  expect(thumbnail).toMatch(/^a_\w{10}\.png$/u)
  const file = await fetch(`${service.url}/api/files/ranges/${record()}/${thumbnail}`)
  expect([file.status, file.headers.get("content-type"), file.headers.get("x-content-type-options")]).toEqual([
    200,
    "image/png",
    "nosniff",
  ])
  expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  expect(service.store.audit.map(({ operation, detail, outcome }) => [operation, detail, outcome])).toEqual([
    ["recordUpdateRange", `id=${record()}`, "ok"],
  ])
  expect(((await (await patch(["thumbnail", ""])).json()) as { readonly thumbnail: string }).thumbnail).toBe("")
})

it("hostile forms are refused and change nothing", async () => {
  const before = { ...[...service.store.ranges.values()].find(({ id }) => id === "R1")! }
  const picture = { bytes: png, name: "a.png" }
  const refused: readonly (readonly [number, readonly (readonly [string, Part])[]])[] = [
    [
      400,
      [
        ["purpose", "x"],
        ["thumbnail", { bytes: svg, name: "a.png" }],
      ],
    ],
    [
      400,
      [
        ["purpose", "x"],
        ["thumbnail", picture],
        ["thumbnail", picture],
      ],
    ],
    [
      400,
      [
        ["purpose", "x"],
        ["avatar", picture],
        ["thumbnail", picture],
      ],
    ],
    [413, [["thumbnail", { bytes: Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)]), name: "a.png" }]]],
    [
      400,
      [
        ["name", ""],
        ["thumbnail", picture],
      ],
    ],
  ]
  for (const [status, parts] of refused) expect((await patch(...parts)).status).toBe(status)
  expect([...service.store.ranges.values()].find(({ id }) => id === "R1")).toEqual(before)
  expect(service.store.pictures.size).toBe(0)
})
