import { describe, expect, it } from "vitest"
import { type DeployEnd, notificationServices, type Notification, readDestination } from "../src/index.ts"

const end: DeployEnd = {
  rangeId: "UMA",
  host: "lab1",
  status: "failure",
  message: "1 of 7 steps failed: <!channel> @all & more",
  startedAt: new Date("2026-03-01T10:00:00.000Z"),
  endedAt: new Date("2026-03-01T11:02:03.000Z"),
}
const subject = "Deploy of range UMA failed"
const message = `It took 1 h 2 min. ${end.message}`
const escaped = "It took 1 h 2 min. 1 of 7 steps failed: &lt;!channel&gt; @all &amp; more"
const whole = `${subject}\n${message}`

const notify = (url: string, of: DeployEnd = end): Notification => {
  const destination = readDestination(url)
  if (destination.state === "unusable") throw new Error(`${destination.because}: ${destination.allowed}`)
  return destination.notify(of)
}
/** The requests for a URL, with their bodies parsed. */
const sent = (url: string, of?: DeployEnd) => {
  const notification = notify(url, of)
  if (notification.kind === "mail") throw new Error("a mail")
  return notification.requests.map((request) => {
    const type = request.headers["content-type"]
    const body: unknown =
      type === "application/json"
        ? JSON.parse(request.body)
        : type === undefined
          ? request.body
          : Object.fromEntries(new URLSearchParams(request.body))
    return { ...request, body }
  })
}
const bodyOf = (url: string, of?: DeployEnd) => sent(url, of)[0]?.body

describe("a web hook", () => {
  it("gets the outcome as JSON", () => {
    expect(sent("https://hooks.example.org/deploy?key=1")).toEqual([
      {
        url: "https://hooks.example.org/deploy?key=1",
        headers: { "content-type": "application/json" },
        body: {
          host: "lab1",
          range_id: "UMA",
          test: false,
          duration: 3_723_000_000_000,
          date: "2026-03-01T11:02:03.000Z",
          subject,
          success: false,
          message,
        },
      },
    ])
  })

  it("gets the login of its URL as a header", () => {
    const [request] = sent("https://us%3Aer:p%C3%A4ss@hooks.example.org/#part")
    expect(request).toMatchObject({ url: "https://hooks.example.org/" })
    expect(request?.headers["authorization"]).toBe(`Basic ${Buffer.from("us:er:päss").toString("base64")}`)
  })

  it.each([
    ["success", true, "Deploy of range UMA succeeded"],
    ["partial", false, "Deploy of range UMA succeeded in part"],
    ["failure", false, "Deploy of range UMA failed"],
    ["aborted", false, "Deploy of range UMA was aborted"],
  ] as const)("learns how a deploy ended: %s", (status, success, told) => {
    expect(bodyOf("https://hooks.example.org", { ...end, status })).toMatchObject({ success, subject: told })
  })

  it("learns only the time of a deploy that succeeded, and no negative one", () => {
    expect(
      bodyOf("https://hooks.example.org", {
        ...end,
        status: "success",
        message: "",
        startedAt: new Date("2026-03-01T12:00:00Z"),
      }),
    ).toMatchObject({ duration: 0, message: "It took 0 s." })
  })

  it("gets the beginning of a long message", () => {
    const body = bodyOf("https://hooks.example.org", { ...end, message: "😀".repeat(5000) }) as { readonly message: string }
    expect(body.message.length).toBeLessThanOrEqual(1500)
    expect(body.message.isWellFormed()).toBe(true)
    expect(body.message.endsWith("…")).toBe(true)
  })
})

describe("a service", () => {
  it.each<readonly [url: string, expected: Partial<Record<"url" | "body" | "headers" | "failsInBody", unknown>>]>([
    [
      "discord://Tok-en@123",
      { url: "https://discord.com/api/webhooks/123/Tok-en", body: { content: whole, allowed_mentions: { parse: [] } } },
    ],
    [
      "slack://bot@AAA/BBB/CCC",
      { url: "https://hooks.slack.com/services/AAA/BBB/CCC", body: { text: `${subject}\n${escaped}`, username: "bot" } },
    ],
    ["slack://AAA/BBB/CCC", { url: "https://hooks.slack.com/services/AAA/BBB/CCC", body: { text: `${subject}\n${escaped}` } }],
    [
      "slack://hook:AAA-BBB-CCC@webhook",
      { url: "https://hooks.slack.com/services/AAA/BBB/CCC", body: { text: `${subject}\n${escaped}` } },
    ],
    [
      "slack://xoxb:12-34-Ab@C001",
      {
        url: "https://slack.com/api/chat.postMessage",
        headers: { "content-type": "application/json", authorization: "Bearer xoxb-12-34-Ab" },
        body: { channel: "C001", text: `${subject}\n${escaped}` },
        failsInBody: true,
      },
    ],
    [
      "telegram://110201543:AAHd-qTcv_x@telegram?channels=-100200,@news",
      {
        url: "https://api.telegram.org/bot110201543:AAHd-qTcv_x/sendMessage",
        body: { chat_id: "-100200", text: whole.replace("@", "@\u200B") },
      },
    ],
    [
      "pushover://shoutrrr:apiTok@userKey/?priority=1&devices=d1,d2",
      {
        url: "https://api.pushover.net/1/messages.json",
        body: { token: "apiTok", user: "userKey", title: subject, message, device: "d1,d2", priority: "1" },
      },
    ],
    [
      "teams://group@tenant/alt/owner?host=org.webhook.office.com",
      {
        url: "https://org.webhook.office.com/webhookb2/group@tenant/IncomingWebhook/alt/owner",
        body: expect.objectContaining({ title: subject, text: escaped }),
      },
    ],
    [
      "gotify://gotify.example.org:8443/base/Tok?priority=5",
      {
        url: "https://gotify.example.org:8443/base/message",
        headers: { "content-type": "application/json", "x-gotify-key": "Tok" },
        body: { title: subject, message, priority: 5 },
      },
    ],
    [
      "pushbullet://api-Token/device1",
      {
        headers: expect.objectContaining({ "access-token": "api-Token" }),
        body: { type: "note", title: subject, body: message, device_iden: "device1" },
      },
    ],
    ["pushbullet://api-Token#news", { body: { type: "note", title: subject, body: message, channel_tag: "news" } }],
    ["pushbullet://api-Token/a@b.example", { body: { type: "note", title: subject, body: message, email: "a@b.example" } }],
    [
      "ifttt://Key/?events=e1,e2&value3=x",
      { url: "https://maker.ifttt.com/trigger/e1/with/key/Key", body: { value1: subject, value2: message, value3: "x" } },
    ],
    [
      "mattermost://bot@chat.example.org/Tok/lab",
      {
        url: "https://chat.example.org/hooks/Tok",
        body: { text: whole.replace("@", "@\u200B"), username: "bot", channel: "lab" },
      },
    ],
    [
      "rocketchat://chat.example.org/a/b",
      { url: "https://chat.example.org/hooks/a/b", body: { text: whole.replace("@", "@\u200B") } },
    ],
    [
      "ntfy://u:p@ntfy.example.org/topic",
      {
        url: "https://ntfy.example.org/",
        headers: { "content-type": "application/json", authorization: `Basic ${btoa("u:p")}` },
        body: { topic: "topic", title: subject, message },
      },
    ],
    ["ntfy:///topic", { url: "https://ntfy.sh/" }],
    ["ntfy://10.0.0.5:8080/topic?scheme=http", { url: "http://10.0.0.5:8080/" }],
    [
      "hangouts://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz",
      { url: "https://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz", body: { text: `${subject}\n${escaped}` } },
    ],
    [
      "zulip://bot%40example.org:Key@zulip.example.org/?stream=lab&topic=ends",
      {
        url: "https://zulip.example.org/api/v1/messages",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          authorization: `Basic ${btoa("bot@example.org:Key")}`,
        },
        body: { type: "stream", to: "lab", topic: "ends", content: whole.replace("@", "@\u200B") },
      },
    ],
    [
      "join://shoutrrr:Key@join/?devices=d1,d2",
      { url: expect.stringContaining("apikey=Key&deviceIds=d1%2Cd2&title=Deploy+of+range+UMA+failed") },
    ],
  ])("gets %s", (url, expected) => {
    expect(sent(url)[0]).toMatchObject(expected)
  })

  it("is asked once for each of several recipients", () => {
    expect(sent("telegram://1:A@telegram?chats=a,b").map(({ body }) => body)).toMatchObject([{ chat_id: "a" }, { chat_id: "b" }])
    expect(sent("ifttt://Key/?events=e1,e2")).toHaveLength(2)
  })

  it("is one of those that messages list", () => {
    expect(notificationServices).toEqual(expect.arrayContaining(["discord", "ntfy", "slack", "smtp", "telegram"]))
  })
})

describe("a mail", () => {
  it("goes to a server that accepts mail from people who log in", () => {
    expect(
      notify("smtp://me%40example.org:p%40ss@mx.example.org:465/?fromAddress=a@example.org&toAddresses=b@x.org,c@x.org"),
    ).toEqual({
      kind: "mail",
      mail: {
        host: "mx.example.org",
        port: 465,
        implicitTls: true,
        user: "me@example.org",
        password: "p@ss",
        from: "a@example.org",
        to: ["b@x.org", "c@x.org"],
        subject,
        text: `${subject}\n\n${message}\n`,
      },
    })
  })

  it.each([
    ["without a login", "smtp://mx.example.org/?from=a@x.org&to=b@x.org"],
    ["at the port between mail servers", "smtp://u:p@mx.example.org:25/?from=a@x.org&to=b@x.org"],
    ["without a recipient", "smtp://u:p@mx.example.org/?from=a@x.org"],
    ["with a second header in its sender", "smtp://u:p@mx.example.org/?from=a@x.org%0D%0ABcc:%20c@x.org&to=b@x.org"],
  ])("is refused %s", (_, url) => {
    expect(readDestination(url)).toMatchObject({ state: "unusable" })
  })
})

describe("a URL that cannot be notified", () => {
  it.each([
    "not a url",
    "",
    "slack://[botname@]token-a/token-b/token-c",
    "script:///etc/SECRET",
    "constructor://SECRET",
    "__proto__://SECRET",
    "discord://SECRET",
    "slack://SECRET/b",
    "telegram://SECRET@telegram",
    `telegram://1:SECRET@telegram?chats=${Array.from({ length: 11 }, (_, n) => n).join(",")}`,
    "teams://a@b/c/d?host=SECRET.example.org",
    "googlechat://SECRET.example.org/v1?key=a&token=b",
    "gotify:///SECRET",
    "mattermost://host/",
    "ntfy://ho%2Fst/SECRET",
    "https://%zz:SECRET@hooks.example.org/%zz",
    "javascript:SECRET",
    "data:,SECRET",
  ])("%s is refused with what it should be, and without repeating it", (url) => {
    const read = readDestination(url)
    expect(read).toMatchObject({ state: "unusable" })
    expect(JSON.stringify(read)).not.toContain("SECRET")
  })
})
