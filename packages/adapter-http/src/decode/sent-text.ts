import type { Context } from "koa"
import bodyParser from "koa-bodyparser"

/** Whether the request says that its body is JSON. */
export const saysJson = (ctx: Context): boolean => Boolean(ctx.request.is("application/json", "application/*+json"))

/** Whether the request says that its body is a form with parts. */
export const saysMultipart = (ctx: Context): boolean => ctx.request.is("multipart/form-data") === "multipart/form-data"

const hasBody = ({ request, req }: Context): boolean =>
  request.length === undefined ? req.headers["transfer-encoding"] !== undefined : request.length > 0

/**
 * Reads a body as UTF-8 text, whatever the request says it is, unpacked where it says that it is packed; undefined: none was sent. Rejects with
 * the parser's own errors, also for more than `limit` bytes.
 */
export const textReader = (limit: number): ((ctx: Context) => Promise<string | undefined>) => {
  const parser = bodyParser({ enableTypes: ["text"], textLimit: String(limit) })
  return async (ctx) => {
    if (!hasBody(ctx)) return undefined
    // the parser leaves alone what does not say that it is text
    ctx.req.headers["content-type"] = "text/plain"
    await parser(ctx, () => Promise.resolve())
    const { rawBody } = ctx.request
    return typeof rawBody === "string" ? rawBody : ""
  }
}
