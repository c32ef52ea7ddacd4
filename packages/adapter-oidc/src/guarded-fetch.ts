import {
  bytesOf,
  dialDirectly,
  ownAddresses,
  permission,
  type Reach,
  requestOver,
  resolveNamed,
  resolvePublic,
  type Surroundings,
} from "@rangewright/host-tools"
import type { Duplex } from "node:stream"
import { isOnThisHost, type OidcOptions } from "./options.ts"
import { Trouble } from "./trouble.ts"

/** Far more than any document of a provider needs: thirty keys are 50 KB. */
const mostBytes = 256 * 1024

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/gu, "").toLowerCase()

/** A request as the library makes it. */
interface Asked {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Requests to the provider, for the library. The issuer's own server may have any address, since the operator configured it; all others,
 * which the provider names, must be public. Redirects are not followed, and responses are limited in size.
 */
export const guardedFetch = (issuer: URL, options: OidcOptions) => {
  const { never = () => Promise.resolve([]), resolve = resolvePublic, dial = dialDirectly, internet = true, ca } = options
  const reach: Reach = { networks: [], servers: [{ host: hostOf(issuer), port: portOf(issuer) }], internet }
  const surroundings: Surroundings = {
    never: async () => [...ownAddresses(), ...(await never())],
    resolve,
    resolveNamed,
  }
  const connected = async (url: URL): Promise<Duplex> => {
    const permitted = await permission(reach, surroundings, hostOf(url), portOf(url))
    if ("because" in permitted) throw new Trouble("unavailable", permitted.because)
    const failures: unknown[] = []
    for (const address of permitted.addresses) {
      const raw = await dial(address, portOf(url)).catch((error: unknown) => void failures.push(error))
      if (raw !== undefined) return raw
    }
    throw failures[0]
  }
  return async (text: string, { method, headers, body, signal }: Asked): Promise<Response> => {
    const url = new URL(text)
    const own = url.origin === issuer.origin
    if (url.protocol !== "https:" && !(own && isOnThisHost(url)))
      throw new Trouble("broken", `the provider's URL at ${url.host} does not use TLS`)
    const until = signal ?? AbortSignal.timeout(10_000)
    try {
      const asked = { method, headers, signal: until, ...(ca === undefined ? {} : { ca }) }
      const answer = await requestOver(
        await connected(url),
        url,
        body === undefined ? asked : { ...asked, body: body.toString() },
      )
      const { statusCode: status = 0, headers: told } = answer
      if (status >= 300 && status < 400) {
        answer.destroy()
        throw new Trouble("broken", `${url.host} redirects, and redirects are not followed where identities are verified`)
      }
      const bytes = await bytesOf(answer, mostBytes)
      if (bytes === undefined) throw new Trouble("broken", `the answer of ${url.host} is larger than ${mostBytes / 1024} KiB`)
      if (status < 200 || status > 599 || [204, 205].includes(status))
        throw new Trouble("broken", `${url.host} answers with status ${status}`)
      const type = told["content-type"]
      const challenge = told["www-authenticate"]
      return new Response(new Uint8Array(bytes), {
        status,
        headers: {
          ...(type === undefined ? {} : { "content-type": type }),
          ...(challenge === undefined ? {} : { "www-authenticate": challenge }),
        },
      })
    } catch (error) {
      if (error instanceof Trouble) throw error
      if (until.aborted) throw new Trouble("timeout", `${url.host} did not answer in time`)
      const { code, message } = error as NodeJS.ErrnoException
      throw new Trouble("unavailable", `${url.host} cannot be reached (${code ?? message.slice(0, 200)})`)
    }
  }
}
