import type { Notification, NotificationMail, NotificationRequest } from "@rangewright/domain"
import { bytesOf } from "@rangewright/host-tools"
import { Notifications } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Socket } from "node:net"
import { hostname } from "node:os"
import { createTransport } from "nodemailer"
import { type InternetOptions, timeoutOf } from "./options.ts"
import { ask, connectTo, Unasked } from "./server-connection.ts"

/** Pause before each further attempt, as a part of the time limit of one: 1 s and 4 s. */
const pauses = [0.2, 0.8]
const mostAnswer = 64 * 1024

/** Why a notification was not delivered, and whether it may be later. */
class Undelivered extends Error {
  readonly mayPass: boolean
  constructor(because: string, mayPass: boolean) {
    super(because)
    this.mayPass = mayPass
  }
}

/** Ports below 1024 are those of other protocols, which a request could disturb. */
const isWebPort = ({ port }: URL): boolean => port === "" || port === "80" || port === "443" || Number(port) >= 1024

const checkAnswer = async (answer: Awaited<ReturnType<typeof ask>>, failsInBody: boolean): Promise<void> => {
  const { statusCode: status = 0 } = answer
  if (status >= 300 && status < 400) throw new Undelivered(`its server redirects (status ${status}); use the final URL`, false)
  if (status < 200 || status > 299)
    throw new Undelivered(`its server answers with status ${status}`, status === 429 || status >= 500)
  if (!failsInBody) return
  const bytes = await bytesOf(answer, mostAnswer)
  const body = bytes?.toString("utf8") ?? ""
  if (/"ok"\s*:\s*true\b/u.test(body)) return
  const error = /"error"\s*:\s*"([a-z_]{1,60})"/u.exec(body)?.[1] ?? "no reason"
  throw new Undelivered(`its server refuses it (${error})`, false)
}

const post = async (options: InternetOptions, request: NotificationRequest, signal: AbortSignal): Promise<void> => {
  const url = new URL(request.url)
  if (!isWebPort(url)) throw new Undelivered(`port ${url.port} is not one of web servers (80, 443, or 1024 and above)`, false)
  const answer = await ask(options, url, { method: "POST", headers: request.headers, body: request.body, signal })
  try {
    await checkAnswer(answer, request.failsInBody === true)
  } finally {
    answer.destroy()
  }
}

const mailProblems: Readonly<Record<string, string>> = {
  EAUTH: "its server refuses the login",
  EENVELOPE: "its server refuses the sender or a recipient",
  ETLS: "its server does not support STARTTLS",
}

/** The facts of an error of nodemailer. Its message may repeat what the server said of the login. */
interface MailProblem {
  readonly code?: string
  readonly originalCode?: string
  readonly responseCode?: number
}

const submit = async (options: InternetOptions, mail: NotificationMail, signal: AbortSignal): Promise<void> => {
  const { host, port, implicitTls, user, password, from, to, subject, text } = mail
  const { ca } = options
  const timeout = timeoutOf(options)
  const raw = await connectTo(options, host, port)
  signal.addEventListener("abort", () => raw.destroy(), { once: true })
  if (signal.aborted) raw.destroy()
  const transport = createTransport({
    host,
    port,
    secure: implicitTls,
    requireTLS: true,
    auth: { user, pass: password },
    tls: { servername: host, ...(ca === undefined ? {} : { ca }) },
    // the checked connection: the name is not resolved again
    getSocket: (_, done) => done(null, { connection: raw as Socket }),
    greetingTimeout: timeout,
    socketTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    const { rejected } = await transport.sendMail({ from, to: [...to], subject, text })
    if (rejected.length > 0) throw new Undelivered(`its server refuses ${rejected.length} of ${to.length} recipients`, false)
  } catch (error) {
    if (error instanceof Undelivered) throw error
    const { code = "", originalCode = code, responseCode } = error as MailProblem
    const problem = mailProblems[code]
    if (problem !== undefined) throw new Undelivered(problem, false)
    if (responseCode === undefined) throw new Undelivered(`its server cannot be reached (${originalCode})`, true)
    throw new Undelivered(`its server answers with ${responseCode}`, responseCode < 500)
  } finally {
    transport.close()
    raw.destroy()
  }
}

const asUndelivered = (cause: unknown): Undelivered => {
  if (cause instanceof Undelivered) return cause
  if (!(cause instanceof Unasked)) return new Undelivered("its server closed the connection", true)
  const { message, reason } = cause
  const hint = reason === "address" ? ". The operator can allow networks for notifications (notification_networks)" : ""
  return new Undelivered(`${message}${hint}`, reason === "may-pass")
}

/** Sends each part that was not sent yet. */
const sendWith = (options: InternetOptions, notification: Notification): Effect.Effect<string | undefined> => {
  const parts =
    notification.kind === "mail"
      ? [(signal: AbortSignal) => submit(options, notification.mail, signal)]
      : notification.requests.map((request) => (signal: AbortSignal) => post(options, request, signal))
  const late = timeoutOf(options)
  const attempt = Effect.gen(function* () {
    for (let part = parts[0]; part !== undefined; part = parts[0]) {
      yield* Effect.tryPromise({ try: part, catch: asUndelivered }).pipe(
        Effect.timeoutOrElse({
          duration: late,
          orElse: () => Effect.fail(new Undelivered(`its server did not answer within ${late / 1000} s`, true)),
        }),
      )
      parts.shift()
    }
  })
  const repeated = ([pause, ...rest]: readonly number[]): Effect.Effect<void, Undelivered> =>
    attempt.pipe(
      Effect.catch((failure) =>
        pause === undefined || !failure.mayPass ? Effect.fail(failure) : Effect.andThen(Effect.sleep(pause), repeated(rest)),
      ),
    )
  return repeated(pauses.map((part) => part * late)).pipe(
    Effect.as(undefined),
    Effect.catch(({ message }) => Effect.succeed(message)),
  )
}

/** Notifies people through public servers, and through those in the networks of the options. */
export const notificationsLayer = (options: InternetOptions = {}): Layer.Layer<Notifications> =>
  Layer.succeed(Notifications, { host: hostname(), send: (notification) => sendWith(options, notification) })
