import type { Dial } from "@rangewright/host-tools"
import type { X509Certificate } from "node:crypto"
import { Duplex, Readable } from "node:stream"
import { connect } from "node:tls"

/** Bytes that a server may send before its certificates are known: five times a usual chain. */
const mostBytes = 64 * 1024
const mostCertificates = 10

async function* limited(from: Duplex): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of from as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error(`it sends more than ${mostBytes} bytes`)
    yield chunk
  }
}

/** The certificates of a server, its own first, as long as each is signed by the next: anything else that a server sends proves nothing. */
const signedChain = (first: X509Certificate | undefined): readonly X509Certificate[] => {
  const chain: X509Certificate[] = []
  for (let next = first; next !== undefined && chain.length < mostCertificates; next = next.issuerCertificate) {
    const below = chain.at(-1)
    if (below !== undefined && !below.verify(next.publicKey)) break
    chain.push(next)
  }
  return chain
}

/** What is needed to read a server's certificates. */
export interface AskedServer {
  readonly name: string
  readonly address: string
  readonly dial: Dial
  readonly ca?: string
}

/** The verified chain of name:443 at this address. Sends only the TLS hello; the connection is closed at once. */
export const tlsChain = async (
  { name, address, dial, ca }: AskedServer,
  signal: AbortSignal,
): Promise<readonly X509Certificate[]> => {
  const raw = await dial(address, 443)
  const socket = Duplex.from({ readable: Readable.from(limited(raw), { objectMode: false }), writable: raw })
  const shown = connect({ socket, servername: name, ...(ca === undefined ? {} : { ca }) })
  const streams = [shown, socket, raw]
  try {
    return await new Promise((resolve, reject) => {
      // any of them may fail more than once, even when nobody waits any more
      for (const stream of streams) stream.on("error", reject)
      shown.once("close", () => reject(new Error("it closes the connection")))
      shown.once("secureConnect", () => resolve(signedChain(shown.getPeerX509Certificate())))
      signal.addEventListener("abort", () => reject(new Error("it takes too long")), { once: true })
      signal.throwIfAborted()
    })
  } finally {
    for (const stream of streams) stream.destroy()
  }
}
