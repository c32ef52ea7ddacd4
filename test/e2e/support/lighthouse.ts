import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import lighthouse, { desktopConfig } from "lighthouse"
import puppeteer, { type Page } from "puppeteer-core"
import { chromiumArguments, chromiumProgram } from "./browser.ts"

/** Lighthouse's categories; `performance` depends on the machine's load and takes twice as long. */
export type Category = "performance" | "accessibility" | "best-practices"

export interface Judgement {
  readonly category: Category
  /** Out of 100. */
  readonly score: number
  /** The audits that lost points: id and, where there are any, the figure and the elements. */
  readonly faults: readonly string[]
}

export interface Lighthouse {
  /** A tab whose signed-in user is the one the pages are judged as. */
  readonly page: Page
  readonly judge: (url: string, device: "desktop" | "phone", categories: readonly Category[]) => Promise<readonly Judgement[]>
  readonly close: () => Promise<void>
}

/** The first elements that an audit is about. */
const elementsOf = (details: unknown): readonly string[] => {
  const { items = [] } = (details ?? {}) as { readonly items?: readonly { readonly node?: { readonly snippet?: string } }[] }
  return Array.isArray(items) ? items.slice(0, 3).flatMap(({ node }) => node?.snippet ?? []) : []
}

/** Lighthouse in a Chromium of its own. */
export const openLighthouse = async (): Promise<Lighthouse> => {
  const profile = mkdtempSync(join(tmpdir(), "rangewright-browser-"))
  const browser = await puppeteer.launch({ executablePath: chromiumProgram, args: [...chromiumArguments], userDataDir: profile })
  const page = await browser.newPage()
  return {
    page,
    judge: async (url, device, categories) => {
      // pages hold an event stream open, so their network is never idle
      const flags = {
        disableStorageReset: true,
        maxWaitForLoad: 4_000,
        networkQuietThresholdMs: 500,
        cpuQuietThresholdMs: 500,
        disableFullPageScreenshot: true,
        onlyCategories: [...categories],
        logLevel: "error" as const,
      }
      const result = await lighthouse(url, flags, device === "desktop" ? desktopConfig : undefined, page as never)
      if (result === undefined) throw new Error(`Lighthouse gave no result for ${url}`)
      const { lhr } = result
      if (lhr.runtimeError !== undefined) throw new Error(`Lighthouse failed on ${url}: ${lhr.runtimeError.message}`)
      if (lhr.finalDisplayedUrl !== url) throw new Error(`Lighthouse came from ${url} to ${lhr.finalDisplayedUrl}`)
      return categories.map((category) => {
        const judged = lhr.categories[category]
        const faults = (judged?.auditRefs ?? []).flatMap(({ id, weight }) => {
          const audit = lhr.audits[id]
          return weight > 0 && audit !== undefined && audit.score !== null && audit.score < 0.9
            ? [[id, audit.displayValue ?? "", ...elementsOf(audit.details)].filter((text) => text !== "").join(" ")]
            : []
        })
        return { category, score: Math.round((judged?.score ?? 0) * 100), faults }
      })
    },
    close: async () => {
      await browser.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
