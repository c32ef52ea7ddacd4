import { type DeployEnd, webhookOfEnd } from "./deploy-end.ts"
import { mailOf, type NotificationMail } from "./mail.ts"
import { type NotificationUrl, parseNotificationUrl } from "./notification-url.ts"
import { type NotificationRequest, postJson, services } from "./services.ts"
import { Unusable } from "./unusable.ts"

/** What is sent for one URL: requests to a web service, or a mail. */
export type Notification =
  | { readonly kind: "requests"; readonly requests: readonly NotificationRequest[] }
  | { readonly kind: "mail"; readonly mail: NotificationMail }

/** URLs of one configuration that are notified; any others are not. */
export const notifiedAtMost = 10

/** A URL that can be notified. */
export interface NotificationDestination {
  readonly state: "usable"
  /** The service's name, without anything secret: `discord`, `hooks.example.org`. */
  readonly name: string
  readonly notify: (end: DeployEnd) => Notification
}

/** Why a URL cannot be notified. The texts contain nothing of the URL, which is a secret. */
export interface UnusableDestination {
  readonly state: "unusable"
  readonly because: string
  /** What it should be. */
  readonly allowed: string
}

/** Names of the services that can be notified, besides http and https URLs. */
export const notificationServices: readonly string[] = [...services.keys(), "smtp"].toSorted()

const webhook = ({ plain, host, user, password }: NotificationUrl): NotificationDestination => ({
  state: "usable",
  name: host,
  notify: (end) => ({ kind: "requests", requests: [postJson(plain, webhookOfEnd(end), { user, password })] }),
})

const unusable = (because: string, allowed: string): UnusableDestination => ({ state: "unusable", because, allowed })

/**
 * Reads one of the `notify.urls` of a range configuration: an http or https URL, which gets `webhookOfEnd`, or the URL of a service in the
 * form of Shoutrrr (`discord://token@webhookid`).
 */
export const readDestination = (text: string): NotificationDestination | UnusableDestination => {
  const url = parseNotificationUrl(text)
  if (url === undefined)
    return unusable(
      "it is not a valid URL",
      "a URL such as https://hooks.example.org/deploys or discord://token@webhookid; special characters in names and passwords are percent-encoded",
    )
  if (url.scheme === "http" || url.scheme === "https") return webhook(url)
  const name = url.scheme
  try {
    if (name === "smtp") {
      const mail = mailOf(url)
      return { state: "usable", name, notify: (end) => ({ kind: "mail", mail: mail(end) }) }
    }
    const service = services.get(name)
    if (service === undefined)
      return unusable("its service is not known", `a URL of http, https, ${notificationServices.join(", ")}`)
    const requests = service(url)
    return { state: "usable", name, notify: (end) => ({ kind: "requests", requests: requests(end) }) }
  } catch (error) {
    if (error instanceof Unusable) return unusable(`it lacks what ${name} needs`, error.message)
    throw error
  }
}
