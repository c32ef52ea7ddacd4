import { type DeployEnd, messageOfEnd, subjectOfEnd } from "./deploy-end.ts"
import type { NotificationUrl } from "./notification-url.ts"
import { Unusable } from "./unusable.ts"

/** A mail for a server that people submit mail to. It is sent only over TLS: at once, or with STARTTLS. */
export interface NotificationMail {
  readonly host: string
  readonly port: number
  /** Whether TLS starts with the connection, and not with STARTTLS. */
  readonly implicitTls: boolean
  readonly user: string
  readonly password: string
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

const submission = 587
const submissions = 465
const ports: readonly number[] = [submission, submissions, 2525]

const form =
  "smtp://user:password@host:587/?fromAddress=lab@example.org&toAddresses=me@example.org, with the login of a server that accepts mail on port 587, 465 or 2525"

const isAddress = (text: string): boolean => text.length <= 254 && /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/u.test(text)

/**
 * The mail for a URL `smtp://user:password@host:port/?fromAddress=…&toAddresses=…`. A login is needed: without one the service would send
 * mail to anybody in the name of its host.
 */
export const mailOf = ({ host, port = submission, user, password, parameter, parameters }: NotificationUrl) => {
  const from = parameter("fromaddress", "from")
  const to = parameters("toaddresses", "to")
  const isComplete = host !== "" && user !== "" && password !== "" && to.length > 0 && to.length <= 10
  if (!isComplete || !ports.includes(port) || ![from, ...to].every(isAddress)) throw new Unusable(form)
  const implicitTls = port === submissions || parameter("encryption").toLowerCase() === "implicittls"
  return (end: DeployEnd): NotificationMail => ({
    host,
    port,
    implicitTls,
    user,
    password,
    from,
    to,
    subject: parameter("subject", "title") || subjectOfEnd(end),
    text: `${subjectOfEnd(end)}\n\n${messageOfEnd(end)}\n`,
  })
}
