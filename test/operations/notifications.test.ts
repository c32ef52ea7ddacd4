import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Notification, Range, User } from "@rangewright/domain"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

describe("the end of a deploy", () => {
  let service: RangeService
  let ada: User
  const deployed = async (notify: string) => {
    const range: Range = await service.find("LAB")
    await service.putConfig(ada, range, `${service.lab.config}\nnotify:\n  urls: ${notify}\n`)
    return service.deploy(ada, await service.find("LAB"))
  }
  const bodies = () =>
    service.names.notified.flatMap((notification: Notification) =>
      notification.kind === "mail" ? [] : notification.requests.map(({ url, body }) => [url, JSON.parse(body) as unknown]),
    )
  const log = async () => ((await service.call("getLogs", ada, { query: {} })) as { readonly result: string }).result

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await service.call("createRange", ada, { body: { name: "Lab", rangeID: "LAB" } })
  })
  afterEach(() => service.close())

  it("is told to everybody whom the configuration names, and the run and its log say so", async () => {
    expect(await deployed('["https://hooks.example/a", "discord://SECRET@1"]')).toMatchObject({
      status: "success",
      notified: [{ to: "hooks.example (notify.urls[0])" }, { to: "discord (notify.urls[1])" }],
    })
    expect(bodies()).toEqual([
      [
        "https://hooks.example/a",
        expect.objectContaining({ range_id: "LAB", success: true, subject: "Deploy of range LAB succeeded" }),
      ],
      ["https://discord.com/api/webhooks/1/SECRET", expect.objectContaining({ content: expect.stringContaining("succeeded") })],
    ])
    expect(await log()).toContain("TASK [Notify discord (notify.urls[1])]")
    expect(await log()).not.toContain("SECRET")
  })

  it("is told when it failed, with the reason", async () => {
    service.lab.world.fault = ({ action }) => (action?.kind === "configure" ? { when: "before", reason: "forbidden" } : undefined)
    expect(await deployed('["https://hooks.example/a"]')).toMatchObject({ status: "failure", notified: [{}] })
    expect(bodies()).toMatchObject([[expect.anything(), { success: false, message: expect.stringContaining("steps failed") }]])
  })

  it("stays a success when nobody can be notified, which the run and its log say", async () => {
    service.names.undelivered = "its server answers with status 404"
    expect(await deployed('["https://hooks.example/a", "pager://SECRET"]')).toMatchObject({
      status: "success",
      notified: [
        { to: "hooks.example (notify.urls[0])", because: "its server answers with status 404" },
        { to: "notify.urls[1]", because: expect.stringContaining("its service is not known") },
      ],
    })
    expect(await log()).toContain("[WARNING]: Cannot notify hooks.example (notify.urls[0]): its server answers with status 404")
    expect(await log()).not.toContain("SECRET")
  })

  it("is told to ten at most", async () => {
    await deployed(JSON.stringify(Array.from({ length: 12 }, (_, n) => `https://hooks.example/${n}`)))
    expect(service.names.notified).toHaveLength(10)
  })

  it("is told of deploys alone", async () => {
    const run = (await deployed('["https://hooks.example/a"]')) as { readonly id: string }
    expect(run.id).toEqual(expect.any(String))
    service.names.notified.length = 0
    await service.call("powerOffRange", ada, { body: { machines: ["all"] } })
    expect(service.names.notified).toEqual([])
  })
})
