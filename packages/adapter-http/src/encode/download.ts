import type { Download } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { Context } from "koa"
import { exitUnlessGone } from "../exit-of.ts"
import type { HttpOptions } from "../options.ts"
import { replyStream } from "../reply.ts"
import { attachment } from "./attachment.ts"
import { backpressuredWriter } from "./backpressured-writer.ts"

/**
 * Writes a file while it is being produced. The answer starts with the first bytes, so a failure before them can still be reported; a later
 * failure cuts the connection, because a client must not mistake a part for the whole. Ends when the reader disconnects. Resolves when
 * nothing more will be written.
 */
export const sendDownload = async (
  ctx: Context,
  { name, ending, bytes }: Download,
  contentType: string,
  { run, eventStreams }: Pick<HttpOptions, "run" | "eventStreams">,
): Promise<Exit.Exit<void, Fault>> => {
  const begin = () => replyStream(ctx, ["Content-Type", contentType, ...attachment(name, ending)])
  if (ctx.method === "HEAD") {
    begin()
    ctx.res.end()
    return Exit.void
  }
  const write = backpressuredWriter(ctx.res, eventStreams.patience)
  const work = Stream.runForEach(bytes, (part) =>
    Effect.promise(() => {
      if (!ctx.res.headersSent) begin()
      return write(part)
    }),
  )
  const exit = await exitUnlessGone(run(work), ctx.res)
  if (Exit.isSuccess(exit)) {
    if (!ctx.res.headersSent) begin()
    ctx.res.end()
  } else if (ctx.res.headersSent) ctx.res.destroy()
  return exit
}
