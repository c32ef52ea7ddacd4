import type { BuildAccount } from "@rangewright/ports"
import * as Redacted from "effect/Redacted"
import { type Agent, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"

const mostAnswer = 16 * 1024 * 1024

type Row = Readonly<Record<string, unknown>>
export const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value)

const readAnswer = async (answer: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > mostAnswer) throw new Error("the hypervisor's answer is too long")
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString("utf8")
  const status = answer.statusCode ?? 0
  if (status < 200 || status >= 300) {
    const words = /"message"\s*:\s*"([^"]*?)(?:\\n)?"/u.exec(text)?.[1] ?? answer.statusMessage ?? ""
    throw new Error(`the hypervisor answers ${status}: ${words.slice(0, 300)}`)
  }
  const body: unknown = JSON.parse(text)
  return isRow(body) ? body["data"] : undefined
}

export interface CallBody {
  readonly type: string
  readonly size: number
  readonly content: Readable
}

/** Makes calls with the account of a build; `path` starts after `/api2/json`. Returns the answer's data. */
export const openAccountCalls = (
  { url, agent }: { readonly url: string; readonly agent: Agent },
  { tokenId, tokenSecret }: Pick<BuildAccount, "tokenId" | "tokenSecret">,
) => {
  const base = new URL(url)
  return async (method: string, path: string, signal: AbortSignal, body?: CallBody): Promise<unknown> => {
    const asked = (base.protocol === "https:" ? httpsRequest : httpRequest)(base, {
      agent,
      method,
      path: `/api2/json${path}`,
      signal,
      headers: {
        host: base.host,
        authorization: `PVEAPIToken=${tokenId}=${Redacted.value(tokenSecret)}`,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": body.type, "content-length": String(body.size) }),
      },
    })
    asked.shouldKeepAlive = false
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      asked.once("response", resolve)
      asked.once("error", reject)
    })
    // an answer that arrives before everything is sent is a refusal
    const sent = body === undefined ? void asked.end() : pipeline(body.content, asked)
    return readAnswer(await Promise.race([answered, Promise.resolve(sent).then(() => answered)]))
  }
}
