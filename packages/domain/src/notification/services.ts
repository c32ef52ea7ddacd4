import * as Base64 from "effect/encoding/Base64"
import { type DeployEnd, messageOfEnd, subjectOfEnd } from "./deploy-end.ts"
import type { NotificationUrl } from "./notification-url.ts"
import { Unusable } from "./unusable.ts"
import { webQuery, webUrl } from "./web.ts"

/** A request that notifies somebody. Everything in it may be secret. */
export interface NotificationRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the service reports failures in a JSON body `{"ok": false, "error": "…"}` with status 200. */
  readonly failsInBody?: boolean
}

interface Login {
  readonly user: string
  readonly password: string
}

const basic = ({ user, password }: Login): Readonly<Record<string, string>> => {
  if (user === "" && password === "") return {}
  return { authorization: `Basic ${Base64.encode(`${user}:${password}`)}` }
}

/** A POST of JSON. */
export const postJson = (
  url: string,
  body: unknown,
  login: Login = { user: "", password: "" },
  headers: Readonly<Record<string, string>> = {},
): NotificationRequest => ({
  url,
  headers: { "content-type": "application/json", ...basic(login), ...headers },
  body: JSON.stringify(body),
})

const postForm = (url: string, fields: Readonly<Record<string, string>>, login?: Login): NotificationRequest => ({
  url,
  headers: { "content-type": "application/x-www-form-urlencoded", ...(login === undefined ? {} : basic(login)) },
  body: webQuery(filled(fields)),
})

/** Without what is empty. */
const filled = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""))

const part = encodeURIComponent

/** A URL on a host that the user named. */
const onHost = ({ authority, parameter }: NotificationUrl, path: string, form: string): string => {
  const scheme = parameter("disabletls") === "yes" || parameter("scheme") === "http" ? "http" : "https"
  const url = webUrl(`${scheme}://${authority}/${path}`)
  if (authority === "" || url === undefined) throw new Unusable(form)
  return url.href
}

/** Requires these values, which a service cannot do without. */
const needed = <const T extends readonly (string | undefined)[]>(form: string, ...values: T): { [K in keyof T]: string } => {
  if (values.some((value) => value === undefined || value === "")) throw new Unusable(form)
  return values as { [K in keyof T]: string }
}

/** Recipients of one URL: each is a request of its own. */
const mostRecipients = 10

const recipients = (form: string, named: readonly string[]): readonly string[] => {
  if (named.length === 0 || named.length > mostRecipients)
    throw new Unusable(`${form}, with at most ${mostRecipients} recipients`)
  return named
}

/** Subject and message. */
const whole = (end: DeployEnd): string => `${subjectOfEnd(end)}\n${messageOfEnd(end)}`

/** So that text from inside a range mentions nobody and makes no link in chats whose markup begins with these characters. */
const plain = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
const unmentioned = (text: string): string => text.replaceAll("@", "@\u200B")

/** What a service is sent; throws `Unusable` for a URL that lacks what it needs. */
type Service = (url: NotificationUrl) => (end: DeployEnd) => readonly NotificationRequest[]

const discord: Service = ({ user: token, host: id, parameter }) => {
  const [a, b] = needed("discord://token@webhookid", id, token)
  return (end) => [
    postJson(`https://discord.com/api/webhooks/${part(a)}/${part(b)}`, {
      content: whole(end),
      ...filled({ username: parameter("username") }),
      allowed_mentions: { parse: [] },
    }),
  ]
}

const slackForm =
  "slack://[botname@]token-a/token-b/token-c, slack://hook:token-a-token-b-token-c@webhook or slack://xoxb:token@channel"

const slack: Service = ({ user, password, host, path }) => {
  const text = (end: DeployEnd): string => plain(whole(end))
  if (user === "xoxb" || user === "xoxp") {
    const [token, channel] = needed(slackForm, password, host)
    return (end) => [
      {
        ...postJson("https://slack.com/api/chat.postMessage", { channel, text: text(end) }, undefined, {
          authorization: `Bearer ${user}-${token}`,
        }),
        failsInBody: true,
      },
    ]
  }
  const tokens = user === "hook" ? password.split("-") : [host, ...path]
  const [a, b, c] = needed(slackForm, tokens[0], tokens[1], tokens[2])
  return (end) => [
    postJson(`https://hooks.slack.com/services/${part(a)}/${part(b)}/${part(c)}`, {
      text: text(end),
      ...(user === "hook" ? {} : filled({ username: user })),
    }),
  ]
}

const telegramForm = "telegram://token@telegram?channels=channel-1,channel-2"

const telegram: Service = ({ user, password, parameters }) => {
  const [id, secret] = needed(telegramForm, user, password)
  const chats = recipients(telegramForm, parameters("channels", "chats"))
  return (end) =>
    chats.map((chat_id) =>
      postJson(`https://api.telegram.org/bot${part(id)}:${part(secret)}/sendMessage`, { chat_id, text: unmentioned(whole(end)) }),
    )
}

const pushover: Service = ({ password: token, host: user, parameter }) => {
  needed("pushover://shoutrrr:apiToken@userKey/?priority=1&devices=device1", token, user)
  return (end) => [
    postForm("https://api.pushover.net/1/messages.json", {
      token,
      user,
      title: subjectOfEnd(end),
      message: messageOfEnd(end),
      device: parameter("devices"),
      priority: parameter("priority"),
    }),
  ]
}

const teamsForm = "teams://group@tenant/altId/groupOwner?host=organization.webhook.office.com"

const teams: Service = ({ user: group, host: tenant, path: [id, owner], parameter }) => {
  const [a, b, c, d, at] = needed(teamsForm, group, tenant, id, owner, parameter("host"))
  // the tokens must not go to anybody else
  if (!/^[\w-]+\.webhook\.office\.com$/u.test(at)) throw new Unusable(teamsForm)
  return (end) => [
    postJson(`https://${at}/webhookb2/${part(a)}@${part(b)}/IncomingWebhook/${part(c)}/${part(d)}`, {
      "@type": "MessageCard",
      "@context": "https://schema.org/extensions",
      summary: subjectOfEnd(end),
      title: subjectOfEnd(end),
      text: plain(messageOfEnd(end)),
    }),
  ]
}

const gotifyForm = "gotify://host/token"

const gotify: Service = (url) => {
  const [token] = needed(gotifyForm, url.path.at(-1))
  const at = onHost(url, [...url.path.slice(0, -1).map(part), "message"].join("/"), gotifyForm)
  const priority = Number(url.parameter("priority"))
  return (end) => [
    postJson(
      at,
      { title: subjectOfEnd(end), message: messageOfEnd(end), priority: Number.isSafeInteger(priority) ? priority : 0 },
      undefined,
      {
        "x-gotify-key": token,
      },
    ),
  ]
}

const pushbullet: Service = ({ host: token, path: [target = ""], fragment }) => {
  needed("pushbullet://api-token[/device or email][#channel]", token)
  const email = target.includes("@") ? target : ""
  return (end) => [
    postJson(
      "https://api.pushbullet.com/v2/pushes",
      {
        type: "note",
        title: subjectOfEnd(end),
        body: messageOfEnd(end),
        ...filled({ channel_tag: fragment, email, device_iden: email === "" ? target : "" }),
      },
      undefined,
      { "access-token": token },
    ),
  ]
}

const iftttForm = "ifttt://key/?events=event1,event2"

const ifttt: Service = ({ host: key, parameter, parameters }) => {
  needed(iftttForm, key)
  const events = recipients(iftttForm, parameters("events"))
  return (end) =>
    events.map((event) =>
      postJson(`https://maker.ifttt.com/trigger/${part(event)}/with/key/${part(key)}`, {
        value1: parameter("value1") || subjectOfEnd(end),
        value2: parameter("value2") || messageOfEnd(end),
        value3: parameter("value3"),
      }),
    )
}

/** Mattermost and Rocket.Chat have the same hooks. */
const chatHook =
  (tokens: number, form: string): Service =>
  (url) => {
    const hook = url.path.slice(0, tokens)
    if (hook.length < tokens) throw new Unusable(form)
    const at = onHost(url, ["hooks", ...hook.map(part)].join("/"), form)
    return (end) => [
      postJson(at, {
        text: unmentioned(whole(end)),
        ...filled({ username: url.user, channel: url.path[tokens] ?? "" }),
      }),
    ]
  }

const ntfyForm = "ntfy://user:password@host/topic"

const ntfy: Service = (url) => {
  const [topic] = needed(ntfyForm, url.path.at(-1))
  const at = onHost(
    url.authority === "" ? { ...url, authority: "ntfy.sh" } : url,
    url.path.slice(0, -1).map(part).join("/"),
    ntfyForm,
  )
  return (end) => [postJson(at, { topic, title: subjectOfEnd(end), message: messageOfEnd(end) }, url)]
}

const googleForm = "googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz"

const googleChat: Service = ({ host, path, parameter }) => {
  const [key, token] = needed(googleForm, parameter("key"), parameter("token"))
  if (host !== "chat.googleapis.com" || path.length === 0) throw new Unusable(googleForm)
  const at = `https://chat.googleapis.com/${path.map(part).join("/")}?${webQuery({ key, token })}`
  return (end) => [postJson(at, { text: plain(whole(end)) })]
}

const zulipForm = "zulip://bot-mail:bot-key@zulip-domain/?stream=name-or-id&topic=name"

const zulip: Service = (url) => {
  const [to] = needed(zulipForm, url.parameter("stream"), url.user, url.password)
  const at = onHost(url, "api/v1/messages", zulipForm)
  return (end) => [
    postForm(
      at,
      { type: "stream", to, topic: url.parameter("topic") || subjectOfEnd(end), content: unmentioned(whole(end)) },
      url,
    ),
  ]
}

const joinForm = "join://shoutrrr:api-key@join/?devices=device1,device2"

const join: Service = ({ password: apikey, parameter }) => {
  const [key, deviceIds] = needed(joinForm, apikey, parameter("devices"))
  return (end) => {
    const title = parameter("title") || subjectOfEnd(end)
    const query = webQuery(filled({ apikey: key, deviceIds, title, text: messageOfEnd(end), icon: parameter("icon") }))
    return [{ url: `https://joinjoaomgcd.appspot.com/_ah/api/messaging/v1/sendPush?${query}`, headers: {}, body: "" }]
  }
}

/** By the scheme of their URLs, which are those of Shoutrrr. */
export const services: ReadonlyMap<string, Service> = new Map([
  ["discord", discord],
  ["slack", slack],
  ["telegram", telegram],
  ["pushover", pushover],
  ["teams", teams],
  ["gotify", gotify],
  ["pushbullet", pushbullet],
  ["ifttt", ifttt],
  ["mattermost", chatHook(1, "mattermost://[username@]host/token[/channel]")],
  ["rocketchat", chatHook(2, "rocketchat://[username@]host/token-a/token-b[/channel]")],
  ["ntfy", ntfy],
  ["googlechat", googleChat],
  ["hangouts", googleChat],
  ["zulip", zulip],
  ["join", join],
])
