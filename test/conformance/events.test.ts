import { Groups, Machines, Ranges, Sessions, Users } from "@rangewright/ports"
import { type GroupName, type GroupRole, type RangeId, rangeSubject, type UserId, type Vmid } from "@rangewright/domain"
import { EventFeed, type EventReader, type ServerSentEvent } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { request } from "node:http"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { ofOwnPage } from "./requests.ts"
import { password, startWholeService, type WholeService } from "./service.ts"

interface Event {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}
interface Stream {
  readonly status: number
  readonly events: readonly Event[]
  /** Whether the service has ended the stream. */
  readonly ended: () => boolean
  readonly close: () => void
  /** Waits for an event. */
  readonly has: (event: string, data?: object) => Promise<Event>
}

let service: WholeService
const streams: Stream[] = []
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  expect(service.defects).toEqual([])
  await service.stop()
})

const eventsIn = (text: string): readonly Event[] =>
  text.split("\n\n").flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "mu").exec(block)?.[1]
    const data = field("data")
    return data === undefined
      ? []
      : [{ id: field("id") ?? "", event: field("event") ?? "", data: JSON.parse(data) as Event["data"] }]
  })

const follow = (
  headers: Readonly<Record<string, string>>,
  query = "",
  lastEventId?: string,
  path = "/api/v2/events",
): Promise<Stream> =>
  new Promise((resolve, reject) => {
    let text = ""
    let over = false
    const all = { ...headers, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) }
    const sent = request(`${service.url}${path}${query}`, { headers: all }, (response) => {
      response.on("data", (part: Buffer) => (text += part.toString()))
      response.on("end", () => (over = true))
      response.on("error", () => (over = true))
      const stream: Stream = {
        status: response.statusCode ?? 0,
        get events() {
          return eventsIn(text)
        },
        ended: () => over,
        close: () => sent.destroy(),
        has: (event, data = {}) =>
          vi.waitFor(
            () => {
              const found = eventsIn(text).find(
                (one) => one.event === event && Object.entries(data).every(([key, value]) => one.data[key] === value),
              )
              if (found === undefined) throw new Error(`no ${event} ${JSON.stringify(data)} in ${text}`)
              return found
            },
            { timeout: 20_000, interval: 20 },
          ),
      }
      streams.push(stream)
      resolve(stream)
    })
    sent.on("error", reject)
    sent.end()
  })

const run = async <A>(
  effect: Effect.Effect<A, unknown, Users | Sessions | Ranges | Machines | Groups | EventFeed>,
): Promise<A> => {
  const exit = await Effect.runPromise(Fiber.await(service.run(Effect.orDie(effect))))
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  return exit.value
}

const key = (who: keyof WholeService["keys"]) => ({ "x-api-key": service.keys[who] })
const R1 = "R1" as RangeId

/** Turns the machine of R1 off, as an observation would see it. */
const turnOff = () =>
  run(
    Effect.gen(function* () {
      const machines = yield* Machines
      const machine = yield* machines.find(20_000 as Vmid)
      if (machine === undefined) return yield* Effect.die("R1 has no machine")
      yield* machines.record({ ...machine, power: "stopped" })
    }),
  )
const rename = (id: RangeId, name: string) => run(Ranges.use((ranges) => ranges.change(id, { name })))

/** Follows as the member, with a reader of the test's own. */
const read = async (reader: Omit<EventReader, "room">) => {
  const events = await run(
    Effect.gen(function* () {
      const user = yield* (yield* Users).find("ME" as UserId)
      if (user === undefined) return yield* Effect.die("there is no member")
      const feed = yield* EventFeed
      return yield* feed.follow({ caller: user, user, session: undefined, wanted: () => true, lastEventId: undefined })
    }),
  )
  return service.run(events({ ...reader, room: Effect.void }))
}

const signIn = async (): Promise<{ readonly cookie: string }> => {
  const answer = await fetch(`${service.url}/ui/session`, {
    method: "POST",
    headers: { ...ofOwnPage, "content-type": "application/json" },
    body: JSON.stringify({ email: "member@lab.example", password }),
  })
  return { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" }
}

const notice = { group: "G1" as GroupName, text: "Noon", by: "AD" as UserId, at: new Date(1), until: new Date(2) }

describe("the stream of events", () => {
  it("delivers the notices of a group to its members", async () => {
    const [stranger, member] = [await follow(key("stranger")), await follow(key("member"), "?topics=notices")]
    for (const one of [stranger, member]) await one.has("ready")
    await run(Groups.use((groups) => groups.setNotice(notice)))
    await member.has("notice", { groupName: "G1", text: "Noon" })
    await run(Groups.use((groups) => groups.removeNotice(notice.group)))
    await member.has("notice", { groupName: "G1", removed: true })
    const place = (role: GroupRole | undefined) =>
      run(Groups.use((groups) => groups.setRoles(notice.group, new Map([["ST" as UserId, role]]))))
    expect(stranger.events.map(({ event }) => event)).toEqual(["ready"])
    await run(Groups.use((groups) => groups.setNotice(notice)))
    await place("member")
    await stranger.has("notice", { groupName: "G1", text: "Noon" })
    await place(undefined)
    await stranger.has("notice", { groupName: "G1", removed: true })
  })

  it("tells members about changes to their own ranges and nothing about other ranges", async () => {
    const [member, stranger, admin] = [await follow(key("member")), await follow(key("stranger")), await follow(key("admin"))]
    for (const one of [member, stranger, admin]) await one.has("ready")
    await turnOff()
    await member.has("machine", { rangeID: "R1", proxmoxID: 20_000, poweredOn: false })
    await rename("R2" as RangeId, "Another")
    await rename(R1, "Mine")
    await member.has("range", { rangeID: "R1", rangeNumber: 1, accessType: "Direct", name: "Mine" })
    await admin.has("range", { rangeID: "R2", name: "Another" })
    await admin.has("machine", { rangeID: "R1" })
    expect(member.events.map(({ data }) => data["rangeID"])).not.toContain("R2")
    expect(stranger.events.map(({ event }) => event)).toEqual(["ready"])
  })

  it("reports runs as the list shows them", async () => {
    const member = await follow(key("member"))
    await member.has("ready")
    const started = await fetch(`${service.url}/api/v2/range/deploy?rangeID=R1`, { method: "POST", headers: key("member") })
    expect(started.status).toBe(200)
    const { data } = await member.has("run", { rangeID: "R1", kind: "deploy", status: "success" })
    const list = (await (await fetch(`${service.url}/api/v2/runs`, { headers: key("member") })).json()) as Event["data"][]
    expect(data).toMatchObject(list.find(({ id }) => id === data["runID"]) ?? { nothing: true })
    expect(rangeSubject(R1)).toEqual(data["subject"])
  })

  it("resumes after the last event, and says when it cannot", async () => {
    const first = await follow(key("member"))
    const { id } = await first.has("ready")
    first.close()
    await rename(R1, "One")
    await turnOff()
    const second = await follow(key("member"), "", id)
    await second.has("range", { name: "One" })
    await second.has("machine", { poweredOn: false })
    expect(second.events.map(({ event }) => event)).not.toContain("reset")
    const ids = second.events.map((event) => Number(event.id.split("-")[1]))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    for (const unknown of ["", "7", "another000-1", `${id.split("-")[0] ?? ""}-999999999`, "x".repeat(3000)]) {
      const other = await follow(key("member"), "", unknown)
      await other.has(unknown === "" ? "ready" : "reset")
    }
  })

  it("reports a range that the user gains and one that they lose", async () => {
    const stranger = await follow(key("stranger"))
    const { id } = await stranger.has("ready")
    await run(Ranges.use((ranges) => ranges.grant(R1, "ST" as UserId)))
    await stranger.has("range", { rangeID: "R1", accessType: "Direct" })
    await stranger.has("machine", { rangeID: "R1", proxmoxID: 20_000 })
    await run(Ranges.use((ranges) => ranges.revoke(R1, "ST" as UserId)))
    await stranger.has("range", { rangeID: "R1", removed: true })
    const count = stranger.events.length
    await turnOff()
    await rename(R1, "Theirs")
    await run(Ranges.use((ranges) => ranges.grant("R2" as RangeId, "ST" as UserId)))
    await stranger.has("range", { rangeID: "R2" })
    expect(stranger.events.slice(count).map(({ data }) => data["rangeID"])).not.toContain("R1")
    // a client that reconnects with different rights reads everything anew
    const again = await follow(key("stranger"), "", id)
    await again.has("reset")
  })

  it("reports removals", async () => {
    const [member, admin] = [await follow(key("member")), await follow(key("admin"))]
    for (const one of [member, admin]) await one.has("ready")
    await run(Ranges.use((ranges) => ranges.remove("lab/web/1" as RangeId)))
    await admin.has("range", { rangeID: "lab/web/1", removed: true })
    await member.has("range", { rangeID: "lab/web/1", removed: true })
  })

  it("is filtered by topics, of which there may only be a few", async () => {
    const narrow = await follow(key("admin"), "?topics=range:R2,runs")
    await narrow.has("ready")
    await turnOff()
    await rename(R1, "Hidden")
    await rename("R2" as RangeId, "Shown")
    await narrow.has("range", { rangeID: "R2" })
    expect(narrow.events.map(({ data }) => data["rangeID"])).not.toContain("R1")
    for (const topics of ["nothing", "range:", "range:../x", "__proto__", "run:x", `${"runs,".repeat(64)}runs`, "constructor"])
      expect([topics, (await follow(key("admin"), `?topics=${topics}`)).status]).toEqual([topics, 400])
    // a million topics are refused
    expect((await follow(key("admin"), `?topics=${"r,".repeat(1_000_000)}`)).status).toBe(400)
  })

  it("ends with the session, with the key, and with the user", async () => {
    const session = await signIn()
    const [mine, byKey, other] = [await follow(session), await follow(key("member")), await follow(key("stranger"))]
    for (const one of [mine, byKey, other]) await one.has("ready")
    const out = await fetch(`${service.url}/ui/session`, { method: "DELETE", headers: { ...ofOwnPage, ...session } })
    expect(out.status).toBe(200)
    await vi.waitFor(() => expect(mine.ended()).toBe(true), { timeout: 20_000 })
    expect((await follow(session)).status).toBe(401)
    await run(Users.use((users) => users.setSecrets("ME" as UserId, { apiKeyHash: "another" })))
    await vi.waitFor(() => expect(byKey.ended()).toBe(true), { timeout: 20_000 })
    await run(Users.use((users) => users.remove("ST" as UserId)))
    await vi.waitFor(() => expect(other.ended()).toBe(true), { timeout: 20_000 })
  })

  it("delivers only the newest state of what changes often, and counts its followers", async () => {
    const member = await follow(key("member"))
    await member.has("ready")
    for (let n = 0; n < 100; n++) await rename(R1, `Name ${n}`)
    await member.has("range", { name: "Name 99" })
    expect(member.events.filter(({ event }) => event === "range").length).toBeLessThan(60)
    expect(await run(Effect.map(EventFeed, (feed) => feed.open()))).toBe(1)
    member.close()
    await vi.waitFor(async () => expect(await run(Effect.map(EventFeed, (feed) => feed.open()))).toBe(0))
  })

  it("is limited to 32 streams for each user", async () => {
    for (let n = 0; n < 32; n++) await (await follow(key("member"))).has("ready")
    const refused = await follow(key("member"))
    expect(refused.status).toBe(403)
    await (await follow(key("admin"))).has("ready")
  })

  it("of runs is limited to 128 for each user, and one that ends makes room", async () => {
    await service.stop()
    service = await startWholeService({ running: true })
    const ofRun = (who: "member" | "admin") => follow(key(who), "", undefined, `/api/v2/runs/${service.runId}/events`)
    const first = await ofRun("member")
    for (let n = 1; n < 128; n++) await ofRun("member")
    expect((await ofRun("member")).status).toBe(403)
    expect((await ofRun("admin")).status).toBe(200)
    first.close()
    await vi.waitFor(async () => expect((await ofRun("member")).status).toBe(200))
  })

  it("of a run ends with the grant, the key, the session, and the user", async () => {
    await service.stop()
    service = await startWholeService({ running: true })
    const ofRun = async (headers: Readonly<Record<string, string>>) => {
      const stream = await follow(headers, "", undefined, `/api/v2/runs/${service.runId}/events`)
      expect(stream.status).toBe(200)
      return stream
    }
    const [admin, byKey, bySession] = [await ofRun(key("admin")), await ofRun(key("member")), await ofRun(await signIn())]
    const made = await fetch(`${service.url}/api/v2/user/keys`, {
      method: "POST",
      headers: { ...key("member"), "content-type": "application/json" },
      body: JSON.stringify({ name: "x", scope: "read", days: 1 }),
    })
    const { keyID, apiKey } = (await made.json()) as { readonly keyID: string; readonly apiKey: string }
    const byScopedKey = await ofRun({ "x-api-key": apiKey })
    const ends = (stream: Stream) => vi.waitFor(() => expect(stream.ended()).toBe(true), { timeout: 20_000 })
    await fetch(`${service.url}/api/v2/user/keys/${keyID}`, { method: "DELETE", headers: key("member") })
    await ends(byScopedKey)
    await run(Sessions.use((sessions) => sessions.end({ userId: "ME" as UserId })))
    await ends(bySession)
    await run(Users.use((users) => users.setSecrets("ME" as UserId, { apiKeyHash: "another" })))
    await ends(byKey)
    const again = await ofRun(await signIn())
    expect([again.ended(), admin.ended()]).toEqual([false, false])
    await run(Ranges.use((ranges) => ranges.revoke(R1, "ME" as UserId)))
    await ends(again)
    expect(admin.ended()).toBe(false)
    await run(Users.use((users) => users.remove("AD" as UserId)))
    await ends(admin)
  })

  it("buffers nothing for a client that does not read", async () => {
    const slow = request(`${service.url}/api/v2/events`, { headers: key("member") }, (response) => {
      response.on("error", () => undefined)
      response.pause()
    })
    slow.on("error", () => undefined)
    slow.end()
    await vi.waitFor(async () => expect(await run(Effect.map(EventFeed, (feed) => feed.open()))).toBe(1))
    const member = await follow(key("member"))
    await member.has("ready")
    for (let n = 0; n < 20; n++) await rename(R1, `${n} ${"x".repeat(200)}`)
    await member.has("range", { name: `19 ${"x".repeat(200)}` })
    slow.destroy()
  })

  it("skips a reader without room, who then gets only the newest state", async () => {
    const sent: ServerSentEvent[] = []
    let hasRoom = false
    const fiber = await read({ send: (events) => void sent.push(...events), hasRoom: () => hasRoom })
    const member = await follow(key("member"))
    await member.has("ready")
    for (const name of ["One", "Two", "Three"]) {
      await rename(R1, name)
      await member.has("range", { name })
    }
    expect(sent.map(({ event }) => event)).toEqual(["ready"])
    hasRoom = true
    await vi.waitFor(() => expect(sent.length).toBeGreaterThan(1))
    expect(sent.slice(1)).toEqual([expect.objectContaining({ event: "range", data: expect.objectContaining({ name: "Three" }) })])
    await Effect.runPromise(Fiber.interrupt(fiber))
  })

  it("goes on for the others when the stream of one reader breaks", async () => {
    let sent = 0
    const broken = await read({
      send: () => {
        if (++sent > 1) throw new Error("broken")
      },
      hasRoom: () => true,
    })
    const member = await follow(key("member"))
    await member.has("ready")
    await rename(R1, "One")
    expect(Exit.isFailure(await Effect.runPromise(Fiber.await(broken)))).toBe(true)
    await rename(R1, "Two")
    await member.has("range", { name: "Two" })
  })
})
