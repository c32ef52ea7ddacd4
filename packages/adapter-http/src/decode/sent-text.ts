import type { Context } from "koa"
import bodyParser from "koa-bodyparser"

/** Whether the request declares its body to be JSON. */
export const saysJson = (ctx: Context): boolean => Boolean(ctx.request.is("application/json", "application/*+json"))

/** Whether the request declares its body to be a multipart form. */
export const saysMultipart = (ctx: Context): boolean => ctx.request.is("multipart/form-data") === "multipart/form-data"

/** Whether the request comes with a body. */
export const hasBody = ({ request, req }: Context): boolean =>
  request.length === undefined ? req.headers["transfer-encoding"] !== undefined : request.length > 0

/**
 * Reads a body as UTF-8 text, whatever its declared type, decompressing it if so declared; undefined when none was sent. Rejects with the
 * parser's own errors, including for more than `limit` bytes.
 */
export const textReader = (limit: number): ((ctx: Context) => Promise<string | undefined>) => {
  const parser = bodyParser({ enableTypes: ["text"], textLimit: String(limit) })
  return async (ctx) => {
    if (!hasBody(ctx)) return undefined
    // the parser ignores bodies that are not declared as text
    ctx.req.headers["content-type"] = "text/plain"
    await parser(ctx, () => Promise.resolve())
    const { rawBody } = ctx.request
    return typeof rawBody === "string" ? rawBody : ""
  }
}
