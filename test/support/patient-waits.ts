import { vi } from "vitest"

/** Vitest gives up after 1,000 ms by default: a slow machine needs longer, and a wait that succeeds costs no more. */
const patience = 20_000
const waitFor = vi.waitFor

vi.waitFor = (callback, options) => waitFor(callback, typeof options === "number" ? options : { timeout: patience, ...options })
