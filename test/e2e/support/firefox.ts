import puppeteer, { type Browser, type Page } from "puppeteer-core"
import { absence } from "./browser.ts"
import { password } from "./web-page.ts"

const program = "/usr/bin/firefox-esr"

/** Why there is no Firefox here; undefined: there is one. */
export const noFirefox = absence(program)

export interface Firefox {
  readonly browser: Browser
  /** A new tab. */
  readonly tab: () => Promise<Page>
  /** Forbidden behavior of pages: errors, policy violations, requests to other hosts. */
  readonly wrong: readonly string[]
  /** The number of requests below this address. */
  readonly asked: (url: string) => number
}

/** Firefox, driven by WebDriver BiDi: Playwright cannot drive Debian's Firefox. Its tabs may load only this origin. */
export const openFirefox = async (origin: string): Promise<Firefox> => {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true })
  const seen: string[] = []
  const requests: string[] = []
  const tabs: Page[] = []
  return {
    browser,
    tab: async () => {
      const page = await browser.newPage()
      tabs.push(page)
      page.setDefaultTimeout(30_000)
      page.on("console", (message) => void (message.type() === "error" && seen.push(message.text())))
      // including violations of its policy
      page.on("pageerror", (error) => void seen.push(String(error)))
      page.on("request", (request) => {
        requests.push(request.url())
        if (!request.url().startsWith(`${origin}/`) && !/^(?:blob|data|about):/u.test(request.url()))
          seen.push(`request: ${request.url()}`)
      })
      return page
    },
    wrong: seen,
    asked: (url) => requests.filter((request) => request.startsWith(url)).length,
  }
}

export const shows = async (page: Page, text: string): Promise<void> => void (await page.locator(`::-p-text(${text})`).wait())

/** Takes puppeteer's selectors. */
export const signInWithPuppeteer = async (page: Page, url: string, user: string): Promise<void> => {
  await page.goto(`${url}/`)
  await page.locator("input[name=user]").fill(user)
  await page.locator("input[name=password]").fill(password)
  await Promise.all([page.waitForNavigation(), page.locator("button::-p-text(Sign in)").click()])
  await page.locator("main h1").wait()
}
