import { chmodSync } from "node:fs"
import { beforeEach, expect, test } from "vitest"
import { makeClient } from "../src/demo/client.ts"
import { makeFolder } from "./support.ts"

interface Answer {
  readonly checkedAt: string
  readonly findings: readonly { readonly level: string; readonly what: string; readonly detail: string }[]
}

let folder: ReturnType<typeof makeFolder>
beforeEach(() => void (folder = makeFolder()))

test("a service returns the command's findings, checks once a minute for all callers, and again on request", async () => {
  const service = await folder.start()
  const root = makeClient(service.plainUrl, folder.text("root-api-key"))
  const { apiKey } = await root.send<{ readonly apiKey: string }>("POST", "/api/v2/user", {
    userID: "ADA",
    name: "Ada",
    email: "ada@lab.example",
    isAdmin: true,
  })
  const ada = makeClient(service.plainUrl, apiKey)
  const look = (query = "") => ada.send<Answer>("GET", `/api/v2/doctor${query}`)
  const [first, beside] = await Promise.all([look(), look()])
  expect(beside).toEqual(first)
  const { output } = await folder.command(["doctor"]).ended
  const told = output.split("\n").flatMap((line) => /^(?:ok|warn|FAIL) +(?<what>[^:]+):/u.exec(line)?.groups?.["what"] ?? [])
  expect(first.findings.map(({ what }) => what)).toEqual(told)
  expect(first.findings.find(({ what }) => what === "data folder")?.level).toBe("ok")

  chmodSync(folder.data, 0o755)
  expect(await look()).toEqual(first)
  expect((await look("?refresh=true")).findings.find(({ what }) => what === "data folder")?.level).toBe("warn")
  expect((await look()).findings.find(({ what }) => what === "data folder")?.level).toBe("warn")
})
