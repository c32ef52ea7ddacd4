import type { BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { noBrowser, type SharedBrowser, shareBrowser } from "./support/browser.ts"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"
import { sourceRepository } from "./support/source-repository.ts"
import { fillIn, openMenus, password, pendingRequests, settled, signIn } from "./support/web-page.ts"

const template = "debian-12-x64-server-template"

/** The input for each type of field. */
const fillings: Readonly<Record<string, string>> = { number: "5", email: "somebody@lab.example", url: "https://example.test/" }

const content = ["roles", "catalog", "sources", "blueprints"] as const
const administration = ["overview", "nodes", "doctor", "quotas", "audit", "groups", "users"].map((name) => `admin/${name}`)

describe.skipIf(noBrowser !== undefined)(
  `every button of the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let service: ServiceProcess
    let ada: ApiClient
    let vmid: number | undefined
    let browser: SharedBrowser

    beforeAll(async () => {
      browser = await shareBrowser()
      const simulator = await startSimulator(["--speed", "60"])
      const sources = sourceRepository("Says hello")
      const settings = {
        RANGEWRIGHT_SOURCE_SCHEMES: "file",
        RANGEWRIGHT_SOURCE_FOLDERS: sources,
      }
      service = await startService(temporaryFolder(), onSimulator(simulator, settings))
      ada = service.as(await addUser(service.root, "ADA", true))
      const sam = await addLab(service, "SAM", smallLab(1), ada)
      const tim = await addLab(service, "TIM", smallLab(1), ada)
      for (const user of [ada, sam, tim]) await user.send("POST", "/user/credentials", { proxmoxPassword: password })
      await expectSuccess(sam, await deploy(sam, "SAM"))
      vmid = (await rangeOf(sam, "SAM")).VMs.find(({ name }) => name === "SAM-m1")?.proxmoxID
      await ada.send("POST", "/groups", { name: "course" })
      await ada.send("POST", "/groups/course/users", { userIDs: ["SAM", "TIM"], managers: ["TIM"] })
      await ada.send("POST", "/groups/course/ranges", { rangeIDs: ["SAM"] })
      await ada.send("POST", "/sources", { type: "git", url: `file://${sources}`, id: "lessons" })
      await ada.send("POST", "/blueprints/from-range", { blueprintID: "lab", name: "A lab", rangeID: "SAM" })
    }, 120_000)
    afterAll(async () => {
      await browser?.close()
      await endAll()
      removeFolders()
    })

    /** Presses each button of these pages as this user, and fills in dialogs; returns refused requests with the button that caused each. */
    const pressAll = async (
      user: string,
      paths: readonly string[],
    ): Promise<{
      readonly refused: readonly string[]
      readonly presses: number
      readonly open: (path: string) => Promise<Page>
    }> => {
      const context = await browser.open()
      const page = await context.newPage()
      const pending = pendingRequests(context)
      const refused = refusals(context, () => pressed)
      let pressed = ""
      let presses = 0
      const open = async (path: string): Promise<Page> => {
        await settled(page, `${service.url}/ui/${path}`)
        // a user who gets a new key has to sign in again
        if (page.url().includes("/ui/login")) {
          await fillIn(page, user)
          await settled(page, `${service.url}/ui/${path}`)
        }
        // the last response decides which buttons there are
        await expect.poll(pending, { timeout: 20_000 }).toBe(0)
        await page.evaluate(openMenus)
        return page
      }
      await signIn(page, service.url, user)
      for (const path of paths) {
        pressed = path
        await open(path)
        let isAsOpened = true
        const buttons = page.locator("main button:enabled")
        const names = [...new Set(await buttons.allInnerTexts())]
        // deleting the subject of a page comes last
        for (const name of names.toSorted((a, b) => Number(/Delete|Remove/u.test(a)) - Number(/Delete|Remove/u.test(b)))) {
          pressed = `${path}: ${name}`
          if (!isAsOpened) await open(path)
          isAsOpened = false
          // an earlier press may have removed it
          const button = buttons.filter({ hasText: name }).first()
          if ((await button.count()) === 0) continue
          // open menus cover one another
          await button.dispatchEvent("click")
          const dialog = page.locator("dialog[open]")
          if ((await dialog.count()) > 0) {
            for (const field of await dialog
              .locator("input:not([type=checkbox],[type=radio],[type=file],[hidden]), textarea")
              .all())
              await field.fill(fillings[(await field.getAttribute("type")) ?? ""] ?? "SAM")
            const act = dialog.locator("button.primary:enabled, button.danger:enabled").last()
            if ((await act.count()) > 0) await act.click()
          }
          presses += 1
          await expect.poll(pending, { timeout: 20_000 }).toBe(0)
          const running = () => ada.get<readonly unknown[]>("/runs?status=running")
          await expect.poll(async () => (await running()).length, { timeout: 60_000 }).toBe(0)
        }
      }
      return { refused, presses, open }
    }

    test("offers an instructor nothing that is forbidden, missing or fails, on the pages of a class and of its ranges", async () => {
      const paths = ["classes/course", "classes/course?view=people", "ranges/SAM/plan", "ranges/SAM/snapshots", ...content, "me"]
      const { refused, presses } = await pressAll("TIM", paths)
      expect(refused).toEqual([])
      expect(presses).toBeGreaterThan(10)
    })

    test("offers a student nothing of the kind, and no pages of administrators", async () => {
      const own = ["plan", "config", "snapshots", "testing", `machines/${vmid}`].map((part) => `ranges/SAM/${part}`)
      const paths = ["ranges", "runs", "templates", `templates/${template}`, ...content, "me", ...own, "ranges/SAM"]
      const { refused, presses, open } = await pressAll("SAM", paths)
      expect(refused).toEqual([])
      expect(presses).toBeGreaterThan(15)
      for (const path of [...administration, "admin/migration", "admin/users/TIM", "ranges/SAM/access", "sources/lessons"]) {
        const page = await open(path)
        expect(await page.getByText("ADA").count(), path).toBe(0)
      }
    })

    test("offers an administrator nothing of the kind", async () => {
      const content = [
        "templates",
        `templates/${template}`,
        "roles",
        "catalog",
        "sources",
        "sources/lessons",
        "blueprints?id=lab",
      ]
      const paths = ["ranges", "ranges/TIM/access", ...content, "classes/course", "classes/course?view=people"]
      const last = [...administration, "admin/users/TIM", "admin/migration"]
      const { refused, presses } = await pressAll("ADA", [...paths, ...last])
      expect(refused).toEqual([])
      expect(presses).toBeGreaterThan(25)
    })
  },
)

/** Error responses that the page should not have caused, as they arrive. */
const refusals = (context: BrowserContext, pressed: () => string): readonly string[] => {
  const refused: string[] = []
  context.on("response", (response) => {
    const isWrong = [403, 404, 405].includes(response.status()) || response.status() >= 500
    // something that is now deleted may have been requested just before
    const isGone = response.status() === 404 && response.request().method() === "GET" && pressed().includes("Delete")
    if (isWrong && !isGone) refused.push(`${pressed()}: ${response.status()} ${response.request().method()} ${response.url()}`)
  })
  return refused
}
