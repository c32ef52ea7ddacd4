import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, extname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { onTestFinished } from "vitest"

export const chromiumProgram = "/usr/bin/chromium"
/** Options without which Chromium sends requests of its own. */
export const chromiumArguments: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

/** Why a browser cannot be run here; undefined: it can. */
export const absence = (browser: string): string | undefined => {
  try {
    accessSync(browser, constants.X_OK)
    return undefined
  } catch {
    return `${browser} is not installed`
  }
}

/** Why there is no browser here; undefined: there is one. */
export const noBrowser = absence(chromiumProgram)

export type Look = Pick<BrowserContextOptions, "colorScheme" | "viewport">

/** A separate browser with its own cookies, which sends requests only for the pages that it is shown. */
export const openBrowser = async (
  look: Look = {},
): Promise<{ readonly context: BrowserContext; readonly close: () => Promise<void> }> => {
  const profile = mkdtempSync(join(tmpdir(), "rangewright-browser-"))
  const context = await chromium.launchPersistentContext(profile, {
    ...look,
    executablePath: chromiumProgram,
    headless: true,
    args: [...chromiumArguments],
  })
  return {
    context,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/** One browser for all tests of a file, since starting one takes seconds. */
export interface SharedBrowser {
  /** A window for this test, with its own cookies, storage, cache and connections, as in a browser of its own. Closed with the test. */
  readonly open: (look?: Look) => Promise<BrowserContext>
  readonly close: () => Promise<void>
}

export const shareBrowser = async (): Promise<SharedBrowser> => {
  const browser = await chromium.launch({ executablePath: chromiumProgram, headless: true, args: [...chromiumArguments] })
  return {
    open: async (look = {}) => {
      const context = await browser.newContext(look)
      onTestFinished(() => context.close())
      return context
    },
    close: () => browser.close(),
  }
}

/** A browser with one page. */
export const openPage = async (url: string): Promise<{ readonly page: Page; readonly close: () => Promise<void> }> => {
  const { context, close } = await openBrowser()
  const page = await context.newPage()
  await page.goto(url)
  return { page, close }
}

const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".html": "text/html" }

/** Serves a page at `/`, and below it the unchanged files of the package that has this module. */
export const servePackage = async (
  module: string,
  page: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const root = dirname(dirname(fileURLToPath(module)))
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://x").pathname)
    try {
      const body = path === "/" ? page : readFileSync(join(root, path))
      response.writeHead(200, { "content-type": types[path === "/" ? ".html" : extname(path)] ?? "text/plain" }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
