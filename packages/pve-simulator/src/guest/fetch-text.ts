const maxBytes = 1024 * 1024
const patience = 30_000

/** Fetches a small text over HTTP from this machine. */
export const fetchText = async (url: string): Promise<string> => {
  const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(patience) })
  if (!answer.ok || answer.body === null) throw new Error(`${url} answers ${answer.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`${url} is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}
