import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { noBrowser } from "./support/browser.ts"
import { addLab, addUser, deploy, expectSuccess, rangeOf, runEnd, smallLab } from "./support/lab.ts"
import { cause, hostileName, hostileText, openPageLab, type PageLab } from "./support/page-lab.ts"
import { repository } from "./support/program.ts"
import { fillIn, hostileLines, longLog, password, pendingRequests, settled, signIn, tabTo, watch } from "./support/web-page.ts"

describe.skipIf(noBrowser !== undefined)(
  `the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let lab: PageLab

    beforeAll(async () => {
      lab = await openPageLab()
      return lab.close
    }, 120_000)

    test("shows a user their range, starts and stops its machines, and opens a console, all without an error", async () => {
      const { service, user, runId, browser } = lab
      const context = await browser({ viewport: { width: 1280, height: 800 } })
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "uma@lab.example")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.getByText("Running: all 4 machines are on.").waitFor()
      await page.getByRole("link", { name: /^UMA-m1, on, 10\.\d+\.10\.11$/u }).waitFor()
      const [logins] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Logins of machines" }).click(),
      ])
      expect(readFileSync(await logins.path()).toString("latin1")).toMatch(/^PK/u)
      // actions that would be refused are not offered: there is no VPN here, and no Windows
      expect(await page.getByRole("button", { name: /VPN file|Remote desktop/u }).count()).toBe(0)

      await page.getByLabel("Actions for m1").click()
      await page.getByRole("button", { name: "Power off" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Power off" }).click()
      await page.getByText("3 of 4 machines are on; m1 is off.").waitFor()
      expect((await rangeOf(user, "UMA")).VMs.filter(({ poweredOn }) => !poweredOn).map(({ name }) => name)).toEqual(["UMA-m1"])
      await page.getByRole("button", { name: "Start", exact: true }).click()
      await page.getByText("Running: all 4 machines are on.").waitFor()

      await page.getByRole("link", { name: "Console of m1" }).click()
      await page.getByText("Connected", { exact: true }).waitFor()
      await page.locator(".screen canvas").waitFor()

      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      await page.getByText("The run succeeded.").waitFor()
      expect(wrong).toEqual([])
    })

    test("shows changes to machines at the hypervisor without a reload, and that the range differs from its configuration", async () => {
      const { service, simulator, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "uma@lab.example")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.getByText("Running: all 4 machines are on.").waitFor()
      const { node, vmid } = (await simulator.guests()).find(({ name }) => name === "UMA-m1") ?? {}
      const power = (what: string) => simulator.post(`/nodes/${node}/qemu/${vmid}/status/${what}`, {})
      const badge = page.getByText("The range differs from its configuration", { exact: false })
      for (const cores of ["3", "1"]) {
        await power("stop")
        await page.getByText("3 of 4 machines are on; m1 is off.").waitFor()
        await simulator.change("PUT", `/nodes/${node}/qemu/${vmid}/config`, { cores })
        await power("start")
        await page.getByText("Running: all 4 machines are on.").waitFor()
        await badge.waitFor({ state: cores === "1" ? "hidden" : "visible" })
      }
      await page.goto(`${service.url}/ui/ranges/UMA/plan`)
      await page.getByText("Nothing to do", { exact: false }).waitFor()
      expect(await page.getByRole("button", { name: "Deploy this" }).isDisabled()).toBe(true)
    })

    test("shows users their disk usage and what takes it, and administrators that of everybody", async () => {
      const { service, ada, user, browser } = lab
      await user.send("POST", "/blueprints/from-range", { blueprintID: "umas", name: hostileText, rangeID: "UMA" })
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "uma@lab.example")
      await page.goto(`${service.url}/ui/me`)
      const quota = page.getByRole("region", { name: "Quota" })
      await quota.getByText("0.1 MiB of 20 GiB").waitFor()
      await quota.getByText("What takes the space").click()
      expect(await quota.getByRole("link", { name: "umas", exact: true }).getAttribute("href")).toBe("/ui/blueprints?id=umas")
      expect(await quota.getByText("shown", { exact: true }).count()).toBe(0)

      const admin = await (await browser()).newPage()
      await signIn(admin, service.url, "ada@lab.example")
      await admin.goto(`${service.url}/ui/admin/quotas`)
      await admin.getByText("Disk on the service's host, for all who are not administrators: 20 GiB").waitFor()
      const row = (id: string) => admin.getByRole("row").filter({ has: admin.getByRole("checkbox", { name: `Select ${id}` }) })
      await row("UMA").getByText("0.1 MiB of 20 GiB").waitFor()
      await row("ADA")
        .getByText(/^[0-9.]+ MiB$/u)
        .waitFor()
      await row("UMA").getByLabel("What takes the disk space of UMA").click()
      await row("UMA").getByText("umas", { exact: true }).waitFor()
      await ada.send("DELETE", "/blueprints/umas")
    })

    test("shows first why a run failed, and resumes it", async () => {
      const { service, bo, failedRunId, browser } = lab
      const context = await browser({ viewport: { width: 1280, height: 720 } })
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "BO")
      await page.goto(`${service.url}/ui/runs?status=failure&range=BO`)
      await page.getByRole("link", { name: "Deploy", exact: true }).click()
      const told = page.locator(".note.bad", { hasText: cause })
      await told.getByText("Start BO-").waitFor()
      const { y = 0, height = 0 } = (await told.boundingBox()) ?? {}
      expect(y + height).toBeLessThan(720)

      await told.getByRole("link", { name: "Show it in the log" }).click()
      await page.getByText("The run failed.").waitFor()
      await page.locator(".line.match", { hasText: cause }).waitFor()
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()])
      expect(readFileSync(await file.path(), "utf8")).toBe(await bo.get(`/runs/${failedRunId}/log?download=true`))

      await page.getByRole("button", { name: "Continue from here" }).click()
      await page.waitForURL((url) => url.pathname.startsWith("/ui/runs/") && !url.pathname.endsWith(failedRunId))
      await page.getByText(/^Succeeded\./u).waitFor()
      expect(wrong).toEqual([])
    })

    test("offers to continue a run only to those who may", async () => {
      const { service, ada, bo, browser } = lab
      const config = smallLab(1).replace(/^( *)linux: true$/mu, "$&\n$1roles: [gone.role]")
      await bo.send("POST", "/blueprints", { blueprintID: "gone", config })
      await ada.send("POST", "/blueprints/gone/install", { global: true })
      const [run] = await bo.get<readonly { readonly id: string; readonly by: string }[]>("/runs?kind=blueprint-install")
      expect(run?.by).toBe("ADA")
      for (const [user, offered] of [
        ["BO", 0],
        ["ADA", 1],
      ] as const) {
        const page = await (await browser()).newPage()
        await signIn(page, service.url, user)
        await page.goto(`${service.url}/ui/runs/${run?.id}`)
        await page.getByRole("link", { name: "Timeline" }).waitFor()
        expect(await page.getByRole("button", { name: "Continue from here" }).count(), user).toBe(offered)
      }
    })

    test("says who could not be notified; asks before it continues a deploy that would remove machines, and names them", async () => {
      const { service, simulator, ada, browser } = lab
      const pru = await addLab(service, "PRU", smallLab(2), ada)
      await pru.send("POST", "/user/credentials", { proxmoxPassword: password })
      await expectSuccess(pru, await deploy(pru, "PRU"))
      await pru.upload("/range/config?rangeID=PRU", `${smallLab(1)}\nnotify: { urls: ["http://10.9.9.9/"] }\n`)
      const repair = await simulator.fault({ kind: "fail-task", type: "qmdestroy", text: "no", when: "before", times: "always" })
      const { runID } = await pru.send<{ runID: string }>("POST", "/range/deploy?rangeID=PRU", { prune: true })
      expect((await runEnd(pru, runID)).status).toBe("failure")
      await repair()
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "PRU")
      await page.goto(`${service.url}/ui/runs/${runID}`)
      await page.getByText("Could not notify 10.9.9.9 (notify.urls[0])").waitFor()
      const resume = page.getByRole("button", { name: "Continue from here" })
      await resume.click()
      const dialog = page.getByRole("dialog", { name: "Continue this deploy?" })
      await dialog.getByText("Remove: PRU-m2").waitFor()
      await dialog.getByRole("button", { name: "Cancel" }).click()
      expect((await rangeOf(pru, "PRU")).VMs.map(({ name }) => name)).toContain("PRU-m2")
      expect(page.url()).toContain(runID)
      await resume.click()
      await dialog.getByRole("button", { name: "Continue from here" }).click()
      await page.getByRole("status").getByText(`Run ${runID} of range PRU resumed as run`).waitFor()
      await page.getByText(/^Succeeded\./u).waitFor()
      expect((await rangeOf(pru, "PRU")).VMs.map(({ name }) => name)).not.toContain("PRU-m2")
    })

    test("shows a log of 200,000 lines from its end, searches it and opens any line, and never executes its content", async () => {
      const { service, runId, browser } = lab
      const context = await browser()
      const wrong = watch(context, service.url)
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      const body = longLog(200_000)
      await page.route("**/api/v2/runs/*/events", (route) => route.fulfill({ body, contentType: "text/event-stream" }))
      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      await page.evaluate("navigator.clipboard.writeText('mine')")
      await page.getByText("The run succeeded.").waitFor()
      const [script = "", ...rest] = hostileLines
      await page.locator(".line", { hasText: script }).waitFor()
      for (const shown of ["a link", "copied", "named", "cleared", "left turned", "bare"])
        expect(await page.locator(".line", { hasText: shown }).count(), shown).toBe(1)
      expect(rest.length).toBe(7)
      expect(await page.locator(".line a[href^=javascript], .line img, .line script").count()).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(true)
      expect(await page.title()).not.toContain("stolen")
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine")
      await page.keyboard.press("e")
      await page.locator(".line.match", { hasText: "fatal: [m1]" }).waitFor()
      await page.getByLabel("Find in the log").fill("NEEDLE")
      await page.getByText("0 of 1").waitFor()
      await page.keyboard.press("Enter")
      await page.locator(".line.match", { hasText: "needle in line 7" }).waitFor()
      expect(await page.locator(".line").count()).toBeLessThanOrEqual(150)
      await page.goto(`${service.url}/ui/runs/${runId}?view=log#L150000`)
      await page.locator(".line.match .number", { hasText: "150000" }).waitFor()
      await page.reload()
      await page.locator(".line.match .number", { hasText: "150000" }).waitFor()
      const next = page.locator(`.line:has(a[href="#L150001"])`)
      const before = await next.boundingBox()
      await next.locator(".number").click()
      await page.locator(".line.match .number", { hasText: "150001" }).waitFor()
      expect(await next.boundingBox()).toEqual(before)
      expect(wrong).toEqual([])
    })

    test("says why a log is refused, and asks for it again only when told to", async () => {
      const { service, runId, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      let asked = 0
      const refusal = { error: "UMA already follows 32 event streams", hint: "Close the others." }
      await page.clock.install()
      await page.route("**/api/v2/runs/*/events", (route) => void ((asked += 1), route.fulfill({ status: 403, json: refusal })), {
        times: 1,
      })
      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      const told = page.getByRole("alert").filter({ hasText: refusal.error })
      await told.getByText(refusal.hint).waitFor()
      await page.clock.runFor(10_000)
      expect([asked, await page.getByText("The run succeeded.").count()]).toEqual([1, 0])
      await told.getByRole("button", { name: "Try again" }).click()
      await page.clock.runFor(1_000)
      await page.getByText("The run succeeded.").waitFor()
      expect(await told.count()).toBe(0)
    })

    test("leads to the line of a log that a link names, for somebody who has to sign in first", async () => {
      const { service, runId, browser } = lab
      const page = await (await browser()).newPage()
      await page.goto(`${service.url}/ui/runs/${runId}?view=log#L2`)
      await page.waitForURL("**/ui/login**")
      await fillIn(page, "UMA")
      await page.locator(".line.match .number", { hasText: "2" }).waitFor()
      expect(page.url()).toMatch(/#L2$/u)
    })

    test("gives a new API key to a user who knows the password, shows it once, and keeps the user signed in", async () => {
      const { service, ada, browser } = lab
      const first = await addUser(ada, "KAY", false)
      await service.as(first).send("POST", "/user/credentials", { proxmoxPassword: password })
      await signIn(await (await browser()).newPage(), service.url, "KAY")
      const context = await browser()
      const other = await context.newPage()
      await signIn(other, service.url, "KAY")
      const page = await context.newPage()
      await page.goto(`${service.url}/ui/me`)
      await page.getByRole("button", { name: "New API key…" }).click()
      const dialog = page.getByRole("dialog", { name: "New API key" })
      await dialog.getByText("Your current key stops working at once").waitFor()
      await dialog.getByLabel("Password").fill("not the password")
      await dialog.getByRole("button", { name: "New API key" }).click()
      await dialog.getByText("Failed to authenticate.").waitFor()
      expect(await service.as(first).get("/user/keys")).toEqual({ keys: [] })

      await dialog.getByLabel("Password").fill(password)
      await dialog.getByRole("button", { name: "New API key" }).click()
      const key = dialog.getByLabel("API key of KAY")
      await key.waitFor()
      expect(await key.getAttribute("type")).toBe("password")
      const text = await key.inputValue()
      expect(text).toMatch(/^KAY\.[0-9A-Za-z]{40}$/u)
      expect(await service.as(text).get("/user/keys")).toEqual({ keys: [] })
      await expect(service.as(first).get("/user/keys")).rejects.toThrow()

      // each tab has lost its stream of events by then
      await ada.send("PUT", "/groups/course/notice", { text: "Hello KAY", duration: "1h" })
      await ada.send("POST", "/groups/course/users", { userIDs: ["KAY"] })
      for (const tab of [page, other]) await tab.getByText("Hello KAY").waitFor()
      expect(await key.inputValue()).toBe(text)
      await dialog.getByRole("button", { name: "Close" }).click()
      expect(await page.content()).not.toContain(text)
      for (const tab of [page, other]) expect(tab.url()).not.toContain("login")
      const sessions = page.getByRole("region", { name: "Sessions" })
      expect(await sessions.getByRole("listitem").count()).toBe(1)
      await sessions.getByText("This session").waitFor()
      await ada.send("DELETE", "/groups/course/notice")
      await ada.send("DELETE", "/groups/course/users", { userIDs: ["KAY"] })
    })

    test("shows the refusal of an identity provider, but no other text of a link", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      const refusal = page.getByRole("alert").getByText("The provider did not let you in", { exact: false })
      for (const [sent, told] of [
        ["access_denied", "The provider did not let you in: access_denied."],
        ["call 555 0100", "The provider did not let you in."],
      ] as const) {
        await page.goto(`${service.url}/ui/login/return?error=${encodeURIComponent(sent)}`)
        await refusal.waitFor()
        expect(await refusal.textContent()).toBe(told)
      }
    })

    test("names on the page of an invitation whom the service invited, whatever the link says, and refuses one that is void", async () => {
      const { service, ada, browser } = lab
      await addUser(service.root, "IVY", false)
      const { invites } = await ada.send<{ readonly invites: readonly { readonly address: string }[] }>("POST", "/user/invites", {
        userIDs: ["IVY"],
      })
      const token = invites[0]?.address.split("#")[1]
      const page = await (await browser()).newPage()
      await page.goto(`${service.url}/ui/invite?user=ADA,%20call%205550100#${token}`)
      const user = page.getByLabel("Your user ID")
      await user.waitFor()
      expect(await user.inputValue()).toBe("IVY")
      expect(page.url()).not.toContain(token)
      await page.getByLabel("New password").fill(password)
      await page.getByRole("button", { name: "Set the password and sign in" }).click()
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "IVY" }).waitFor()
      await page.goto(`${service.url}/ui/invite?user=ADA#${token}`)
      await page.getByRole("alert").getByText("Cannot use the invitation: it was already used", { exact: false }).waitFor()
      expect(await page.getByText("ADA").count()).toBe(0)
      expect(await page.getByLabel("New password").count()).toBe(0)
      await ada.send("DELETE", "/user/IVY")
    })

    test("sets a new password for a user who knows the current one, and asks them to sign in with it", async () => {
      const { service, ada, browser } = lab
      const next = "a quiet harbour at dawn"
      await service.as(await addUser(ada, "NED", false)).send("POST", "/user/credentials", { proxmoxPassword: password })
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "NED")
      await page.goto(`${service.url}/ui/me`)
      const card = page.getByRole("region", { name: "Password", exact: true })
      const submit = async (current: string) => {
        await card.getByLabel("Current password").fill(current)
        await card.getByLabel("New password").fill(next)
        await card.getByLabel("Repeat the password").fill(next)
        await card.getByRole("button", { name: "Set the password" }).click()
      }
      await submit("not the password")
      await card.getByText("Cannot set the password of NED: the current password is wrong").waitFor()
      await card.getByText("ask an administrator for an invitation, or").waitFor()
      // another request learns first that the session is over
      const over = page.waitForResponse((response) => response.status() === 401)
      await page.route("**/api/v2/user/credentials", async (route) => {
        const response = await route.fetch()
        await over
        await route.fulfill({ response })
      })
      await submit(password)
      await page.waitForURL("**/ui/login?next=*")
      await page.getByText("Your password was changed. Sign in with the new one.").waitFor()
      const again = await fetch(`${service.url}/ui/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-rangewright": "1", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ userID: "NED", password: next }),
      })
      expect(again.status).toBe(200)
    })

    test("keeps a new API key on the page until it is closed, though Esc is pressed and no new session begins", async () => {
      const { service, ada, browser } = lab
      const first = await addUser(ada, "LEO", false)
      await service.as(first).send("POST", "/user/credentials", { proxmoxPassword: password })
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "LEO")
      await page.goto(`${service.url}/ui/me`)
      const pressed = Promise.withResolvers<void>()
      await page.route("**/api/v2/user/apikey", async (route) => {
        await pressed.promise
        await route.continue()
      })
      await page.route("**/ui/session", (route) => route.abort())
      await page.getByRole("button", { name: "New API key…" }).click()
      const dialog = page.getByRole("dialog", { name: "New API key" })
      await dialog.getByLabel("Password").fill(password)
      await dialog.getByRole("button", { name: "New API key" }).click()
      await dialog.getByText("Working…").waitFor()
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape")
      await dialog.getByRole("button", { name: "Cancel" }).click()
      pressed.resolve()
      const key = dialog.getByLabel("API key of LEO")
      await dialog.getByText("Your session has ended").waitFor()
      expect(await key.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true)
      expect(await service.as(await key.inputValue()).get("/user/keys")).toEqual({ keys: [] })
      await dialog.getByRole("button", { name: "Close" }).click()
      await page.waitForURL("**/ui/login?next=*")
    })

    test("keeps the key of a new user on the page until it is closed, though Esc is pressed", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/admin/users`)
      await page.getByRole("button", { name: "Add a user" }).click()
      const dialog = page.getByRole("dialog", { name: "Add a user" })
      for (const [label, text] of [
        ["User ID", "MIA"],
        ["Name", "Mia"],
        ["Email", "mia@lab.example"],
      ] as const)
        await dialog.getByLabel(label, { exact: true }).fill(text)
      await dialog.getByRole("button", { name: "Add a user" }).click()
      const key = dialog.getByLabel("API key")
      await key.waitFor()
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape")
      expect(await key.inputValue()).toMatch(/^MIA\./u)
      await dialog.getByRole("button", { name: "Close" }).click()
      await dialog.waitFor({ state: "hidden" })
    })

    test("keeps what was typed for a snapshot that is refused, and the focus on its row while machines change", async () => {
      const { service, simulator, user, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      await page.route("**/api/v2/snapshots/create?*", (route) =>
        route.fulfill({ status: 409, json: { error: "No space is left." } }),
      )
      await page.goto(`${service.url}/ui/ranges/UMA/snapshots`)
      await page.getByRole("button", { name: "Take a snapshot" }).click()
      const dialog = page.getByRole("dialog", { name: "Take a snapshot" })
      const take = dialog.getByRole("button", { name: "Take a snapshot" })
      await dialog.getByLabel("Name").fill("clean")
      await take.click()
      await dialog.getByText("No space is left.").waitFor()
      expect(await dialog.getByLabel("Name").inputValue()).toBe("clean")
      await page.unrouteAll()
      await take.click()
      await dialog.waitFor({ state: "hidden" })

      const rollBack = page.getByRole("row").filter({ hasText: "clean" }).getByRole("button", { name: "Roll back" })
      await expect.poll(() => rollBack.isEnabled(), { timeout: 20_000 }).toBe(true)
      await rollBack.focus()
      const { node, vmid } = (await simulator.guests()).find(({ name }) => name === "UMA-m1") ?? {}
      await simulator.post(`/nodes/${node}/qemu/${vmid}/status/stop`, {})
      await page.getByText("3 of 4 machines are on; m1 is off.").waitFor()
      expect(await rollBack.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
      await simulator.post(`/nodes/${node}/qemu/${vmid}/status/start`, {})
      await page.getByText("Running: all 4 machines are on.").waitFor()
      await user.send("POST", "/snapshots/remove?rangeID=UMA", { name: "clean" })
    })

    test("names each window after what it shows, wherever somebody came from", async () => {
      const { service, runId, browser } = lab
      const page = await (await browser()).newPage()
      const named = (title: string) => expect.poll(() => page.title(), { timeout: 20_000 }).toBe(`${title} · Rangewright`)
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await named("UMA · Overview")
      await page.getByRole("link", { name: "Snapshots", exact: true }).click()
      await named("UMA · Snapshots")
      await page.goto(`${service.url}/ui/runs/${runId}`)
      await named("Deploy of UMA · Timeline")
      await page.getByRole("link", { name: "Steps", exact: true }).click()
      await named("Deploy of UMA · Steps")
      await page.getByRole("link", { name: "Runs", exact: true }).click()
      await named("Runs")
    })

    test.each([
      ["is told by an event", false],
      ["was not yet told of events", true],
    ])("shows and offers nothing more of a range that was taken from its viewer, whose page %s", async (_when, isLate) => {
      const { service, ada, browser } = lab
      await ada.send("POST", "/ranges/assign/BO/EVIL")
      const page = await (await browser()).newPage()
      const revoked = Promise.withResolvers<void>()
      await page.route("**/api/v2/events", async (route) => {
        if (isLate) await revoked.promise
        await route.continue()
      })
      await signIn(page, service.url, "BO")
      await page.goto(`${service.url}/ui/ranges/EVIL`)
      const deploy = page.getByRole("link", { name: "Review and deploy" })
      await deploy.waitFor()
      await ada.send("DELETE", "/ranges/revoke/BO/EVIL")
      revoked.resolve()
      await page.getByText(/you no longer have access to it|You do not have access to range EVIL/u).waitFor()
      await deploy.waitFor({ state: "detached" })
      expect(await page.getByText("About", { exact: true }).count()).toBe(0)
    })

    test("shows the audit trail since a day", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      await settled(page, `${service.url}/ui/admin/audit`)
      const since = async (date: string): Promise<void> => {
        await page.getByLabel("Since").fill(date)
        await page.getByRole("button", { name: "Apply" }).click()
        await page.waitForURL(`**since=${date}**`)
      }
      await since("2020-01-01")
      await page.getByText("startSession").first().waitFor()
      await since("2999-12-31")
      await page.getByText("startSession").first().waitFor({ state: "detached" })
      expect(await page.getByRole("alert").count()).toBe(0)
    })

    test("says so when the answer to its first question is cut off, and begins again", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      // a page asks again when its event stream opens: the cut answer is for the next one
      await page.goto("about:blank")
      await page.route("**/api/v2/whoami", (route) => route.fulfill({ body: '{"user":' }), { times: 1 })
      await page.goto(`${service.url}/ui/runs`)
      await page.getByText("The answer of the service is not complete", { exact: false }).waitFor()
      await page.getByRole("button", { name: "Try again" }).click()
      await page.locator("main tbody tr").first().waitFor()
    })

    test("says so when a part of it cannot be loaded, as after an update of the service", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/runs`)
      await page.route(/\/ui\/assets\/(?:palette|blueprints)-/u, (route) => route.abort())
      await page.keyboard.press("Control+k")
      const said = page.getByText("This part of the page could not be loaded.", { exact: false })
      await said.waitFor()
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Blueprints" }).click()
      await page.getByRole("button", { name: "Try again" }).waitFor()
      await said.waitFor()
    })

    test("leads from a refusal to the page that does what its hint says, named after the command", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "BO")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      const refusal = page.getByRole("alert").filter({ hasText: "You do not have access to range UMA" })
      await refusal.getByText("List the ranges you may use: `ludus range accessible` (Ranges).").waitFor()
      expect(await refusal.getByText("GET").count()).toBe(0)
      await refusal.getByRole("link", { name: "Ranges" }).click()
      await page.getByRole("heading", { name: "Ranges" }).waitFor()
      await page.goto(`${service.url}/ui/classes/nothing`)
      await page.getByRole("alert").getByText("ludus groups list").waitFor()
    })

    test("shows names that others chose as plain text", async () => {
      const { service, user, browser } = lab
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges?q=evil`)
      const shown = hostileName.replace("\u202e", "\\u202e")
      await page.getByText(shown, { exact: true }).waitFor()
      await settled(page, `${service.url}/ui/ranges/EVIL`)
      await page.getByText(shown, { exact: true }).waitFor()
      expect(await page.locator("main img, main script, main a[href^=javascript]").count()).toBe(0)

      await user.send("POST", "/user/keys", { name: "mine\u202esruoy", scope: "read", days: 1 })
      await page.goto(`${service.url}/ui/me`)
      await page.getByRole("button", { name: "Remove the key mine" }).click()
      const question = page.getByRole("dialog", { name: "Remove the key mine\\u202esruoy?", exact: true })
      await question.getByRole("button", { name: "Remove" }).click()
      await page.getByText("mine\\u202esruoy").waitFor({ state: "detached" })
      expect(wrong).toEqual([])
    })

    test("shows three screens at once, types a long text completely, and reconnects to a machine that was off", async () => {
      const { service, simulator, user, browser } = lab
      const context = await browser()
      const first = await context.newPage()
      await signIn(first, service.url, "UMA")
      const machines = (await rangeOf(user, "UMA")).VMs.filter(({ name }) => /-m\d$/u.test(name))
      const screens: Page[] = []
      for (const { proxmoxID } of machines) {
        const page = await context.newPage()
        await page.goto(`${service.url}/ui/ranges/UMA/console/${proxmoxID}`)
        screens.push(page)
      }
      const connected = (page: Page) => page.getByText("Connected", { exact: true }).waitFor()
      for (const screen of screens) await connected(screen)
      expect(screens.length).toBe(3)
      const [screen, machine] = [screens[0], machines[0]]
      if (screen === undefined || machine === undefined) throw new Error("there is no machine")
      await screen.bringToFront()
      const text = "Every key of it arrives: a_B-c 0123456789! ".repeat(5).slice(0, 200)
      await screen.getByRole("button", { name: "Type text" }).click()
      await screen.getByLabel("Text to type into the machine").fill(text)
      await screen.getByRole("button", { name: "Type it" }).click()
      const typed = async () => (await simulator.screens()).find(({ vmid }) => vmid === machine.proxmoxID)?.typed
      await expect.poll(typed, { timeout: 20_000 }).toBe(text)

      await screen.locator(".screen canvas").focus()
      await screen.keyboard.press("Tab")
      await screen.locator("canvas:focus").waitFor()
      await screen.keyboard.press("Control+Alt")
      await screen.locator("a:focus", { hasText: "Back" }).waitFor()

      const power = (verb: string) => user.send("PUT", `/range/${verb}?rangeID=UMA`, { machines: [machine.name] })
      await power("poweroff")
      await screen.getByText("The machine is off", { exact: true }).waitFor()
      await power("poweron")
      await connected(screen)
      for (const page of screens) await page.close()
    })

    test("says why a console does not open, and opens it at the next try", async () => {
      const { service, simulator, user, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      const vmid = (await rangeOf(user, "UMA")).VMs.find(({ name }) => name === "UMA-m1")?.proxmoxID
      const match = { method: "POST", path: "/nodes/*/qemu/*/vncproxy" }
      const message = "Permission check failed (VM.Console)"
      const repair = await simulator.fault({ kind: "respond", match, when: "before", status: 403, message, times: "always" })
      await page.goto(`${service.url}/ui/ranges/UMA/console/${vmid}`)
      await page.getByRole("alert").filter({ hasText: message }).waitFor()
      await repair()
      await page.getByRole("button", { name: "Connect again" }).click()
      await page.getByText("Connected", { exact: true }).waitFor()
      await page.getByRole("alert").waitFor({ state: "detached" })
      const keys = [page.getByRole("button", { name: "Ctrl+Alt+Del" }), page.getByRole("button", { name: "Type text…" })]
      for (const key of keys) expect(await key.isEnabled()).toBe(true)
      await page.getByLabel("View only").check()
      for (const key of keys) expect(await key.isEnabled()).toBe(false)
    })

    test("completes and checks a configuration as it is typed, and overwrites nothing of another user", async () => {
      const { service, user, browser } = lab
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges/UMA/config`)
      const content = page.locator(".cm-content")
      await page.getByText("The configuration is valid.").waitFor()
      await content.click()
      await page.keyboard.press("Control+End")
      await page.keyboard.type("netw")
      await page.keyboard.press("Control+Space")
      await page.getByText("The firewall between VLANs, the VPN and the outside").waitFor()
      await page.getByRole("option", { name: "network" }).click()
      await page.keyboard.type("inter_vlan_default: ")
      await page.keyboard.press("Control+Space")
      await page.getByRole("option", { name: "REJECT" }).click()
      await page.getByText("The configuration is valid.").waitFor()
      await page.keyboard.type("\nwrong: 1")
      await page.getByText('the key "wrong" is not known here').first().waitFor()
      for (let i = 0; i < "\nwrong: 1".length; i++) await page.keyboard.press("Backspace")

      const theirs = `# theirs\n${smallLab(3)}`
      expect((await user.upload("/range/config?rangeID=UMA", theirs)).status).toBe(200)
      await page.getByText("The configuration is valid.").waitFor()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      const dialog = page.getByRole("dialog", { name: "The configuration has changed in the meantime" })
      await dialog.getByText("+ # theirs").waitFor()
      expect((await user.get<{ result: string }>("/range/config?rangeID=UMA")).result).toBe(theirs)
      await dialog.getByRole("button", { name: "Keep mine" }).click()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Saved.", { exact: true }).waitFor()
      const mine = `${smallLab(3)}network:\n  inter_vlan_default: REJECT\n`
      expect((await user.get<{ result: string }>("/range/config?rangeID=UMA")).result).toBe(mine)
      await user.upload("/range/config?rangeID=UMA", smallLab(3))
      expect(wrong).toEqual([])
    })

    test("keeps the line ends of a configuration from Windows, and shows its hidden characters", async () => {
      const { service, user, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      const stored = `# a h\u202eidden one\n${smallLab(1)}`.replaceAll("\n", "\r\n")
      expect((await user.upload("/range/config?rangeID=EVIL", stored)).status).toBe(200)
      await settled(page, `${service.url}/ui/ranges/EVIL/config`)
      await page.locator(".cm-specialChar").waitFor()
      await page.getByText("The configuration is valid.").waitFor()
      await page.locator(".cm-content").click()
      await page.keyboard.press("Control+Home")
      await page.keyboard.type("x")
      const unsaved = page.getByText("Not saved", { exact: true })
      await unsaved.waitFor()
      await page.keyboard.press("Backspace")
      await unsaved.waitFor({ state: "detached" })
      await page.keyboard.type("# mine\n")
      await page.getByText("The configuration is valid.").waitFor()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Saved.", { exact: true }).waitFor()
      expect((await user.get<{ result: string }>("/range/config?rangeID=EVIL")).result).toBe(`# mine\r\n${stored}`)
      await user.send("POST", "/blueprints/from-range", { blueprintID: "hidden", name: "Hidden", rangeID: "EVIL" })
      await settled(page, `${service.url}/ui/blueprints?id=hidden`)
      await page.getByText("# a h\\u202eidden one").waitFor()
    })

    test("leads a new user from a range without configuration to one that can be deployed", async () => {
      const { service, ada, browser } = lab
      const nia = service.as(await addUser(service.root, "NIA", false))
      await nia.send("POST", "/user/credentials", { proxmoxPassword: password })
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "NIA")
      await page.getByText("a deploy would create the router alone", { exact: false }).waitFor()
      // there is no VPN
      expect(await page.getByText("Connect to the VPN").count()).toBe(0)
      await page.getByRole("link", { name: "Write the configuration" }).click()
      await page.getByRole("button", { name: "Insert an example" }).click()
      await page.locator(".cm-line", { hasText: "vm_name" }).first().waitFor()
      expect(await page.getByRole("button", { name: "Insert an example" }).count()).toBe(0)
      await page.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Not saved").first().waitFor({ state: "detached" })
      expect(await nia.get("/range/config")).toEqual(await nia.get("/range/config/example"))
      await page.getByRole("navigation").getByRole("link", { name: "Overview", exact: true }).click()
      await page.getByText("There are no machines yet.").waitFor()
      expect(await page.getByRole("link", { name: "Write the configuration" }).count()).toBe(0)
      await ada.send("DELETE", "/user/NIA")
    })

    test("shows an administrator no number before it is known", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      const held: (() => Promise<void>)[] = []
      await page.route("**/api/v2/runs?limit=200", (route) => void held.push(() => route.continue()))
      await page.goto(`${service.url}/ui/admin/overview`)
      const runsToday = page.locator("dl.numbers > div").filter({ hasText: "Runs today" }).locator("dd")
      await page.locator("dl.numbers").getByText(/ of /u).waitFor()
      expect(await runsToday.textContent()).toBe("–")
      expect(await page.getByText("Nothing is running.").count()).toBe(0)
      await page.getByRole("region", { name: "Needs attention" }).getByText("Loading…").waitFor()
      for (const go of held) await go()
      await page.getByText("Nothing is running.").waitFor()
      await page.getByText("Loading…").waitFor({ state: "detached" })
      expect(Number(await runsToday.textContent())).toBeGreaterThan(1)
    })

    test("creates a range with the whole ID that is given, and opens its configuration", async () => {
      const { service, browser, ada } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges`)
      await page.getByRole("button", { name: "New range" }).click()
      const dialog = page.getByRole("dialog", { name: "New range" })
      const rangeID = "instructor-network-lab-number-2"
      await dialog.getByLabel("ID").fill(rangeID)
      await dialog.getByLabel("Name").fill("Network lab")
      await page.keyboard.press("Enter")
      await page.waitForURL("**/config")
      expect(page.url()).toContain(`/ui/ranges/${rangeID}/config`)
      await page.locator(".cm-content").waitFor()
      await ada.send("DELETE", `/range?rangeID=${rangeID}`)
    })

    test("keeps a configuration that is not saved while other pages are looked at, and says what is planned without it", async () => {
      const { service, user, browser } = lab
      const page = await (await browser()).newPage()
      let asked = 0
      page.on("dialog", (dialog) => void ((asked += 1), dialog.accept()))
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges/UMA/config`)
      await page.locator(".cm-content").click()
      await page.keyboard.press("Control+Home")
      await page.keyboard.type("# mine\n")
      await page.getByText("Not saved").waitFor()
      const marked = page.getByRole("link", { name: "Configuration Not saved", exact: true })
      await marked.waitFor()
      expect(await page.title()).toBe("UMA · Configuration · Rangewright")
      await page.getByRole("navigation").getByRole("link", { name: "Plan", exact: true }).click()
      await page.getByText("this plan is without your changes").waitFor()
      await marked.waitFor()

      const theirs = `# theirs\n${smallLab(3)}`
      expect((await user.upload("/range/config?rangeID=UMA", theirs)).status).toBe(200)
      await page.goBack()
      await page.locator(".cm-line", { hasText: "# mine" }).waitFor()
      await page.getByText("The configuration is valid.").waitFor()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      const dialog = page.getByRole("dialog", { name: "The configuration has changed in the meantime" })
      await dialog.getByRole("button", { name: "Use theirs, discard mine" }).click()
      await page.locator(".cm-line", { hasText: "# theirs" }).waitFor()
      expect(await page.getByText("Not saved").count()).toBe(0)
      await page.getByRole("link", { name: "Configuration", exact: true }).waitFor()
      await page.getByRole("navigation").getByRole("link", { name: "Plan", exact: true }).click()
      await page.getByRole("button", { name: "Plan again" }).waitFor()
      expect(await page.getByText("this plan is without your changes").count()).toBe(0)
      await page.reload()
      expect(asked).toBe(0)
      await user.upload("/range/config?rangeID=UMA", smallLab(3))
    })

    test("acts on all ranges of a class at once, shows the result for each, and adds people to it", async () => {
      const { service, simulator, user, browser } = lab
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "ADA")
      await settled(page, `${service.url}/ui/admin/users`)
      await page.getByRole("button", { name: "Add several" }).click()
      await page.getByLabel("Users to add").fill("KIT,Kit Moe,kit@lab.example\nUMA,Uma,uma@lab.example\n")
      await page.getByLabel("Put them in the group").selectOption("course")
      await page.getByRole("dialog").getByRole("button", { name: "Add several users" }).click()
      await page.getByText("1 of 2 done, 1 failed").waitFor()
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download invitations" }).click(),
      ])
      const many = page.getByRole("dialog", { name: "Add several users" })
      for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape")
      await many.getByRole("button", { name: "Download the keys" }).waitFor()
      await many.getByRole("button", { name: "Change the list" }).click()
      expect(await page.getByLabel("Users to add").inputValue()).toBe("UMA,Uma,uma@lab.example\n")
      await many.getByRole("button", { name: "Download the keys" }).waitFor()
      await many.getByRole("button", { name: "Close" }).click()
      await many.waitFor({ state: "hidden" })
      const link = /^KIT,kit@lab\.example,(?<link>\S+)$/mu.exec(readFileSync(await download.path(), "utf8"))?.groups?.["link"]
      const guest = await (await browser()).newPage()
      await guest.goto(link ?? "")
      await guest.getByLabel("New password").fill("a tidy harbour at dusk")
      await guest.getByRole("button", { name: "Set the password and sign in" }).click()
      await guest.getByRole("link", { name: "KIT" }).first().waitFor()
      expect(guest.url()).not.toContain("#")
      await settled(page, `${service.url}/ui/classes/course?view=people`)
      await page.getByRole("rowheader", { name: "KIT" }).waitFor()
      await page.getByLabel("Add ranges").fill("KIT")
      await page.getByRole("button", { name: "Add", exact: true }).last().click()
      await page.getByText("Added: KIT").waitFor()

      await page.getByRole("link", { name: "Ranges" }).last().click()
      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m1"] })
      await simulator.fault({ kind: "fail-task", type: "qmstart", text: "no memory is left", when: "before" })
      await page.getByLabel("Select all that are shown").check()
      await page.getByRole("button", { name: "Start", exact: true }).click()
      await page.getByRole("dialog", { name: "Start 3 ranges?" }).getByRole("button", { name: "Start" }).click()
      await page.getByText("2 of 3 done, 1 failed").waitFor()
      await page.getByText("no memory is left").waitFor()
      await page.getByRole("button", { name: "Retry that one" }).click()
      await page.getByText("3 of 3 done").waitFor()
      await page.getByRole("button", { name: "Deploy", exact: true }).click()
      const deploy = page.getByRole("dialog", { name: "Deploy 3 ranges?" })
      const planOf = (range: string) => deploy.getByRole("listitem").filter({ hasText: range })
      await planOf("UMA").getByText("Nothing to do").waitFor()
      await planOf("KIT").getByText("A deploy would create").waitFor()
      await deploy.getByRole("button", { name: "Cancel" }).click()

      await settled(page, `${service.url}/ui/classes/course`)
      await page.getByRole("button", { name: "Post a notice…" }).click()
      const tell = page.getByRole("dialog", { name: "Post a notice for course" })
      await tell.getByLabel("Text").fill("Save your work <b>now</b>")
      await tell.getByRole("button", { name: "Post it" }).click()
      await guest.getByText("Save your work <b>now</b>").waitFor()
      await page.getByRole("button", { name: "Take down" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Take down" }).click()
      await guest.getByText("Save your work").waitFor({ state: "detached" })

      await settled(page, `${service.url}/ui/ranges`)
      await page.getByLabel("Owner's user ID").fill("KIT")
      await page.keyboard.press("Enter")
      await page.getByText(/^1 of \d+ ranges$/u).waitFor()
      await page.getByRole("rowheader", { name: "KIT" }).waitFor()

      await settled(page, `${service.url}/ui/ranges?q=uma`)
      await page.getByLabel("Select several").check()
      await page.keyboard.press("j")
      await page.locator("th a:focus", { hasText: "UMA" }).waitFor()
      await page.keyboard.press("x")
      expect(await page.getByLabel("Select UMA").isChecked()).toBe(true)
      await page.getByRole("button", { name: "Take a snapshot" }).click()
      const name = page.getByRole("dialog", { name: "Take a snapshot of 1 range?" }).getByLabel("Name of the snapshot")
      for (const text of ["1 no", "before"]) {
        await name.fill(text)
        expect(await name.evaluate((field) => field.matches(":valid"))).toBe(text === "before")
      }
      await page.getByRole("dialog").getByRole("button", { name: "Take a snapshot" }).click()
      await page.getByText("1 of 1 done").waitFor()
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })

    test("installs the content of a source after showing it, reports the result for each item, and removes it again", async () => {
      const { service, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/sources`)
      await page.getByRole("link", { name: "Lessons" }).click()
      await page.getByText(hostileText).waitFor()
      expect(await page.getByText("Not installed", { exact: true }).count()).toBe(2)
      await page.getByRole("button", { name: "Install everything…" }).click()
      const plan = page.getByRole("dialog", { name: "What would be installed" })
      await plan.getByText("greeting").waitFor()
      await page.route("**/install", async (route) => {
        await page.getByText("Working…").waitFor()
        await route.continue()
      })
      await plan.getByRole("button", { name: "Install" }).click()
      await page.getByText("Done: ").waitFor()
      await page.getByRole("button", { name: "Uninstall Lesson" }).waitFor()
      expect(await page.getByText("Installed", { exact: true }).count()).toBe(2)

      // the blueprint still needs it
      await page.getByRole("button", { name: "Uninstall greeting" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Uninstall" }).click()
      await page.getByRole("alert").getByText("greeting").waitFor()

      await page.goto(`${service.url}/ui/roles?q=greet`)
      await page.getByRole("rowheader", { name: "greeting" }).waitFor()
      await page.goto(`${service.url}/ui/catalog?kind=blueprint`)
      await page.getByRole("button", { name: "Uninstall Lesson" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Uninstall" }).click()
      await page.getByRole("button", { name: "Install Lesson" }).waitFor()
      expect(wrong).toEqual([])
    })

    test("shows a fetch by somebody else in the list of sources, wherever the reader came from", async () => {
      const { service, ada, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      const stream = page.waitForResponse("**/api/v2/events")
      await settled(page, `${service.url}/ui/runs?kind=source-fetch`)
      await stream
      await page.getByText("lessons", { exact: false }).first().waitFor()
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Sources" }).click()
      const fetched = page
        .getByRole("row", { name: /lessons/iu })
        .locator("time")
        .first()
      const before = await fetched.getAttribute("datetime")
      await ada.send("POST", "/sources/lessons/sync")
      await expect.poll(() => fetched.getAttribute("datetime"), { timeout: 10_000 }).not.toBe(before)
    })

    test("names the source of a run in lists, on its own page and in the search", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/runs?kind=source-fetch`)
      const row = page.getByRole("row").filter({ hasText: "Lessons" })
      await row.getByRole("link", { name: "Fetch" }).first().click()
      await page.getByRole("heading", { name: "Fetch of Lessons" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("dialog", { name: "Go to" }).locator("input:focus").waitFor()
      await page.keyboard.type("fetch lessons")
      await page.getByRole("option").filter({ hasText: "Lessons" }).first().waitFor()
    })

    test("adds a source from an archive, says which items are unusable, replaces the archive and deletes the source again", async () => {
      const { service, sources, browser } = lab
      const buffer = execFileSync("git", ["archive", "--format=tar.gz", "HEAD"], { cwd: sources })
      const archive = { name: "mine.tar.gz", mimeType: "application/gzip", buffer }
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/sources`)
      await page.getByRole("button", { name: "Add a source" }).click()
      const dialog = page.getByRole("dialog", { name: "Add a source" })
      expect(await dialog.getByLabel("Kind").locator("option").allTextContents()).toEqual(["A git repository", "An archive"])
      await dialog.getByLabel("Access").selectOption("With an SSH key")
      await dialog.getByLabel("Private key").fill("is not sent with another kind")
      await dialog.getByLabel("Kind").selectOption("An archive")
      await dialog.getByLabel("Archive", { exact: true }).setInputFiles(archive)
      await dialog.getByRole("button", { name: "Add a source" }).click()
      await dialog.waitFor({ state: "hidden" })
      await page.getByText("The source was added", { exact: false }).filter({ hasText: "templates/empty" }).waitFor()

      await page.getByRole("link", { name: "Lessons" }).click()
      await page.getByRole("button", { name: "Change…" }).click()
      const change = page.getByRole("dialog", { name: "Change the source" })
      await change.getByLabel("Archive").setInputFiles({ ...archive, name: "mine.zip" })
      await change.getByRole("button", { name: "Save" }).click()
      await change.getByRole("alert").waitFor()
      await change.getByLabel("Archive").setInputFiles(archive)
      await change.getByRole("button", { name: "Save" }).click()
      await change.waitFor({ state: "hidden" })
      await page.getByText("There was nothing to do.").waitFor()
      await page.getByRole("button", { name: "Delete the source" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete the source" }).click()
      await page.getByText("There are no sources.").waitFor()
      expect(wrong.filter((one) => !one.includes("400"))).toEqual([])
    })

    test("accepts archives of a role and a template, and says what is wrong with one", async () => {
      const { service, sources, browser } = lab
      const pack = (name: string, parent: string, folder: string) => ({
        name,
        mimeType: "application/x-tar",
        buffer: execFileSync("tar", ["-c", "-C", parent, folder]),
      })
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      const upload = async (what: string, file: ReturnType<typeof pack>): Promise<void> => {
        await page.getByRole("button", { name: "Upload…" }).click()
        const dialog = page.getByRole("dialog", { name: `Upload a ${what}` })
        await dialog.getByLabel("File").setInputFiles({ ...file, buffer: Buffer.from("no archive") })
        await dialog.getByRole("button", { name: "Upload" }).click()
        await dialog.getByRole("alert").waitFor()
        await dialog.getByLabel("File").setInputFiles(file)
        await dialog.getByRole("button", { name: "Upload" }).click()
        await dialog.waitFor({ state: "hidden" })
      }
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/roles`)
      await upload("role", pack("greeting.tar", `${sources}/ansible/roles`, "greeting"))
      await page.getByText("Successfully installed role").waitFor()
      await page.getByRole("rowheader", { name: "greeting" }).waitFor()
      await page.getByRole("button", { name: "Remove greeting" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
      await page.getByRole("rowheader", { name: "greeting" }).waitFor({ state: "detached" })
      await page.goto(`${service.url}/ui/templates`)
      await upload("template", pack("small.tar", `${repository}test/e2e/templates`, "small-clone"))
      await page.getByText("Successfully added template", { exact: false }).waitFor()
      await page.getByRole("searchbox").fill("no such name")
      await page.getByText("No template matches.").waitFor()
      await page.getByRole("searchbox").fill("small")
      await page.getByRole("link", { name: "small-clone" }).click()
      await page.getByRole("button", { name: "Delete" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await page.waitForURL("**/ui/templates")
      await page.getByRole("status").getByText("Template small-clone-template was deleted").waitFor()
      expect(wrong.filter((one) => !one.includes("400"))).toEqual([])
    })

    test("creates a blueprint from a range, shares and copies it, exports and imports the copy, and deletes it again", async () => {
      const { service, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/blueprints`)
      await page.getByRole("button", { name: "New from a range…" }).click()
      const dialog = page.getByRole("dialog", { name: "New blueprint" })
      await dialog.getByLabel("Range").selectOption("UMA")
      await dialog.getByLabel("ID").fill("ada/lab")
      await dialog.getByLabel("Name").fill("A lab")
      await dialog.getByRole("button", { name: "New blueprint" }).click()
      await page.getByRole("heading", { name: "A lab" }).waitFor()
      await page.getByText("debian-12-x64-server-template").first().waitFor()
      // whose configuration would be replaced is chosen, not proposed
      await page.getByRole("button", { name: "Use for a range…" }).click()
      const use = page.getByRole("dialog", { name: /^Use /u })
      await use.getByRole("option", { name: /^BO – / }).waitFor({ state: "attached" })
      expect(await use.getByLabel("Range").inputValue()).toBe("")
      await use.getByRole("button", { name: "Cancel" }).click()
      const card = page.getByRole("region", { name: "Shared with" })
      await card.getByLabel("Share with a group").selectOption("course")
      await card.getByRole("button", { name: "Share", exact: true }).first().click()
      await card.getByRole("button", { name: "Stop sharing course" }).click()
      await card.getByLabel("Share with a user").fill("UMA")
      await card.getByRole("button", { name: "Share", exact: true }).last().click()
      await card.getByRole("button", { name: "Stop sharing UMA" }).click()
      await card.getByText("Nobody.").waitFor()

      await page.getByRole("button", { name: "Copy…" }).click()
      const copy = page.getByRole("dialog", { name: "Copy A lab" })
      await copy.getByLabel("ID").fill("ada/copy")
      await copy.getByRole("button", { name: "Copy" }).click()
      await page.getByText("ada/copy", { exact: true }).waitFor()
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()])
      expect(download.suggestedFilename()).toBe("ada-copy.tar.gz")
      const pending = pendingRequests(context)
      await page.getByRole("button", { name: "Delete" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await page.waitForURL("**/ui/blueprints")
      await page.getByRole("button", { name: "New from a range…" }).waitFor()
      await page.getByRole("status").getByText("Blueprint ada/copy deleted").waitFor()
      await expect.poll(pending, { timeout: 20_000 }).toBe(0)
      const copies = () => page.getByRole("rowheader", { name: "A lab" }).count()
      expect(await copies()).toBe(1)
      await page.getByRole("button", { name: "Import…" }).click()
      await page.getByLabel("File").setInputFiles(await download.path())
      await page.getByRole("button", { name: "Import", exact: true }).click()
      await page.getByRole("dialog").waitFor({ state: "hidden" })
      await page.getByText("Blueprint ada/copy imported").waitFor()
      await expect.poll(copies, { timeout: 20_000 }).toBe(2)
      expect(wrong).toEqual([])
    })

    test("says on the page that a change leads to what it did, as plain text, until it is closed or another page is opened", async () => {
      const { service, ada, browser } = lab
      for (const id of ["first", "second", "third"])
        await ada.send("POST", "/blueprints/from-range", { blueprintID: `gone/${id}`, name: "x".repeat(100), rangeID: "UMA" })
      const context = await browser({ viewport: { width: 375, height: 800 } })
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "ADA")
      const status = page.getByRole("status")
      const remove = async (id: string) => {
        await page.goto(`${service.url}/ui/blueprints?id=gone/${id}`)
        await page.getByRole("button", { name: "Delete" }).click()
        const question = page.getByRole("dialog")
        await question.getByText(`Delete the blueprint ${"x".repeat(100)}?`).waitFor()
        expect(await question.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
        await question.getByRole("button", { name: "Delete" }).click()
        await page.waitForURL("**/ui/blueprints")
      }
      await remove("first")
      await status.getByText("Blueprint gone/first deleted").waitFor()
      // a filter is no other page
      await page.getByRole("searchbox").fill("x")
      await page.waitForURL("**q=x")
      await status.getByText("Blueprint gone/first deleted").waitFor()
      await page.goto(`${service.url}/ui/blueprints`)
      await page.getByRole("heading", { name: "Blueprints" }).waitFor()
      expect(await page.getByText("Blueprint gone/first deleted").count()).toBe(0)

      await remove("second")
      await status.getByText("Blueprint gone/second deleted").waitFor()
      await page.getByRole("button", { name: "Menu" }).click()
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Runs" }).click()
      await page.getByRole("heading", { name: "Runs" }).waitFor()
      await page.getByText("Blueprint gone/second deleted").waitFor({ state: "detached" })
      await page.goBack()
      await page.getByRole("heading", { name: "Blueprints" }).waitFor()
      expect(await page.getByText("Blueprint gone/second deleted").count()).toBe(0)

      await page.route("**/blueprints/gone%2Fthird", async (route) =>
        route.request().method() === "DELETE"
          ? route.fulfill({ json: { result: `${hostileName}${"x".repeat(5_000)}` } })
          : route.continue(),
      )
      await remove("third")
      await status.getByText(hostileName.replace("\u202e", "\\u202e")).waitFor()
      expect(await page.locator("main img, main script").count()).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(true)
      await status.getByRole("button", { name: "Close" }).click()
      await page.getByText("x".repeat(5_000)).waitFor({ state: "detached" })
      await ada.send("DELETE", "/blueprints/gone%2Fthird")
      // except requests that were in flight when a blueprint was deleted
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })

    test("tells the end of a long deletion on the page where the user is by then, and does not lead them away from it", async () => {
      const { service, ada, browser } = lab
      await ada.send("POST", "/ranges/create", { rangeID: "SLOW", name: "Slow" })
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      const left = Promise.withResolvers<void>()
      await page.route("**/api/v2/range?*", async (route) => {
        if (route.request().method() === "DELETE") await left.promise
        await route.continue()
      })
      await settled(page, `${service.url}/ui/ranges/SLOW`)
      await page.getByRole("button", { name: "Delete the range…" }).click()
      await page.getByLabel("Type SLOW to delete it").fill("SLOW")
      await page.getByRole("dialog").getByRole("button", { name: "Delete the range" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Templates" }).click()
      await page.getByRole("heading", { name: "Templates" }).waitFor()
      left.resolve()
      await page.getByRole("status").getByText("Range SLOW deleted").waitFor()
      expect(page.url()).toBe(`${service.url}/ui/templates`)
    })

    test("tells a late refusal, and that a configuration was saved, where the user is by then", async () => {
      const { service, ada, browser } = lab
      await ada.send("POST", "/ranges/create", { rangeID: "LATE", name: "Late" })
      await ada.send("POST", "/ranges/create", { rangeID: "LATE2", name: "Later" })
      expect((await ada.upload("/range/config?rangeID=LATE2", smallLab(1))).status).toBe(200)
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "ADA")
      const links = page.getByRole("navigation", { name: "Pages" })
      const status = page.getByRole("status")
      let left = Promise.withResolvers<void>()
      await page.route("**/api/v2/range?*", async (route) => {
        if (route.request().method() !== "DELETE") return route.continue()
        await left.promise
        await route.fulfill({ status: 409, json: { error: "It is in use." } })
      })
      await settled(page, `${service.url}/ui/ranges/LATE`)
      await page.getByRole("button", { name: "Delete the range…" }).click()
      await page.getByLabel("Type LATE to delete it").fill("LATE")
      await page.getByRole("dialog").getByRole("button", { name: "Delete the range" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
      await links.getByRole("link", { name: "Ranges" }).click()
      await page.getByRole("heading", { name: "Ranges" }).waitFor()
      left.resolve()
      await status.getByText("It is in use.").waitFor()

      left = Promise.withResolvers<void>()
      await page.route("**/api/v2/range/config?*", async (route) => {
        if (route.request().method() === "PUT") await left.promise
        await route.continue()
      })
      await page.getByRole("link", { name: "LATE2" }).first().click()
      await page.getByRole("link", { name: "Configuration", exact: true }).click()
      await page.locator(".cm-content").click()
      await page.keyboard.press("Control+Home")
      await page.keyboard.type("# mine\n")
      await page.getByText("The configuration is valid.").waitFor()
      await page.getByRole("button", { name: "Save and review" }).click()
      await links.getByRole("link", { name: "Templates" }).click()
      await page.getByRole("heading", { name: "Templates" }).waitFor()
      left.resolve()
      await status.getByText("Saved.").waitFor()
      expect(page.url()).toBe(`${service.url}/ui/templates`)
      await page.goBack()
      await page.locator(".cm-line", { hasText: "# mine" }).waitFor()
      expect(await page.getByText("Not saved").count()).toBe(0)
    })

    test("tells why a change was refused although its window was closed meanwhile", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges`)
      let go: () => void = () => undefined
      const closed = new Promise<void>((resolve) => (go = resolve))
      await page.route("**/api/v2/ranges/create", async (route) => {
        await closed
        await route.continue()
      })
      await page.getByRole("button", { name: "New range" }).click()
      const dialog = page.getByRole("dialog", { name: "New range" })
      await dialog.getByLabel("ID").fill("UMA")
      await dialog.getByLabel("Name").fill("Again")
      await page.keyboard.press("Enter")
      await dialog.getByText("Working").waitFor()
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "detached" })
      go()
      await page.locator(".told.bad", { hasText: "UMA" }).waitFor()
    })

    test("notices, when a user returns to the page, that the range differs from its configuration, even without an event", async () => {
      const { service, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.locator("main tbody tr").first().waitFor()
      const note = page.getByText("The range differs from its configuration: m1.")
      expect(await note.count()).toBe(0)
      const drift = { inSync: false, differences: [{ object: "UMA-m1", kind: "update" }], machines: [] }
      await page.route("**/api/v2/range/drift?*", (route) => route.fulfill({ json: drift }))
      await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`)
      await note.waitFor()
    })

    test("says why parts of a range cannot be read, and reads them again on request", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      // never answered: when its event stream opens, a page reads everything again by itself
      await page.route("**/api/v2/events", () => undefined)
      for (const what of ["runs", "range/topology", "range/drift"])
        await page.route(`**/api/v2/${what}?*`, (route) => route.fulfill({ status: 500, json: { error: `No ${what} today.` } }))
      await page.goto(`${service.url}/ui/ranges/UMA`)
      const runs = page.getByRole("region", { name: "Last runs" })
      await runs.getByText("No runs today.").waitFor()
      await page.getByRole("region", { name: "Network" }).getByText("No range/topology today.").waitFor()
      await page.getByText("No range/drift today.").waitFor()
      await page.unrouteAll()
      await runs.getByRole("button", { name: "Try again" }).click()
      await runs.getByRole("listitem").first().waitFor()
      await runs.getByRole("alert").waitFor({ state: "detached" })
    })

    test("works with the keyboard alone: sign in, find a range, start a machine, look at its screen, read a run, and sign out", async () => {
      const { service, user, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      await page.goto(`${service.url}/ui/login`)
      await page.getByLabel("Email or user ID").waitFor()
      await page.keyboard.press("Tab")
      await page.keyboard.type("UMA")
      await page.keyboard.press("Tab")
      await page.keyboard.type(password)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Ranges" }).waitFor()
      await page.getByRole("searchbox").waitFor()
      await page.keyboard.press("/")
      await page.keyboard.type("m1")
      await page.waitForURL("**q=m1**")
      await page.keyboard.press("Escape")
      await page.keyboard.press("g")
      await page.keyboard.press("u")
      await page.waitForURL("**/ui/runs")
      await page.locator("h1:focus", { hasText: "Runs" }).waitFor()
      // k alone moves in a table
      await page.locator("main tbody tr").first().waitFor()
      await page.keyboard.press("k")
      await page.locator("main tbody tr :focus").waitFor()
      await page.keyboard.press("g")
      await page.keyboard.press("k")
      await page.waitForURL("**/ui/catalog")
      await page.keyboard.press("Control+k")
      const palette = page.getByRole("dialog", { name: "Go to" })
      await palette.locator("input:focus").waitFor()
      await page.keyboard.type("machine m1")
      await palette.getByRole("option", { selected: true }).filter({ hasText: "m1" }).waitFor()
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/ranges/*/machines/*")
      await palette.waitFor({ state: "hidden" })
      await page.keyboard.press("?")
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "hidden" })

      await page.keyboard.press("g")
      await page.keyboard.press("a")
      const singleKeys = page.getByLabel("Single-key shortcuts")
      await tabTo(page, singleKeys)
      await page.keyboard.press("Space")
      for (const key of ["?", "g", "r", "Control+k"]) await page.keyboard.press(key)
      await palette.locator("input:focus").waitFor()
      expect(page.url()).toContain("/ui/me")
      await page.keyboard.press("Escape")
      await palette.waitFor({ state: "hidden" })
      await tabTo(page, singleKeys)
      await page.keyboard.press("Space")
      expect(await singleKeys.isChecked()).toBe(true)

      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m2"] })
      await settled(page, `${service.url}/ui/ranges/UMA`)
      await page.getByText("3 of 4 machines are on; m2 is off.").waitFor()
      await tabTo(page, page.getByLabel("Actions for m2"))
      await page.keyboard.press("Enter")
      await tabTo(page, page.locator("details[open]").getByRole("button", { name: "Start" }))
      await page.keyboard.press("Enter")
      await page.getByText("Running: all 4 machines are on.").waitFor()
      await tabTo(page, page.getByLabel("Actions for m2"))
      await page.keyboard.press("Enter")
      await tabTo(page, page.locator("details[open]").getByRole("button", { name: "Power off" }))
      await page.keyboard.press("Enter")
      await page.locator("dialog[open] :focus").waitFor()
      await page.keyboard.press("Escape")
      await page.locator("dialog[open]").waitFor({ state: "detached" })
      await page.locator("main :focus").waitFor()
      await tabTo(page, page.getByRole("link", { name: "Console of m2" }))
      await page.keyboard.press("Enter")
      await page.getByText("Connected", { exact: true }).waitFor()
      await page.locator("canvas:focus").waitFor()
      await page.keyboard.press("Control+Alt")
      await page.locator("a:focus", { hasText: "Back" }).waitFor()
      await page.keyboard.press("Enter")
      await tabTo(page, page.getByRole("region", { name: "Last runs" }).getByRole("link", { name: "Power", exact: true }).first())
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/runs/*")
      await tabTo(page, page.getByRole("link", { name: "Log", exact: true }))
      await page.keyboard.press("Enter")
      await page.getByText("The run succeeded.").waitFor()
      await tabTo(page, page.getByRole("button", { name: "Sign out" }))
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/login**")
    })

    test("deletes a machine, plans a part of a deploy, and deletes all machines and the range after confirmation", async () => {
      const { service, browser, ada } = lab
      const eve = await addLab(service, "EVE", smallLab(2), ada)
      await eve.send("POST", "/user/credentials", { proxmoxPassword: password })
      await expectSuccess(eve, await deploy(eve, "EVE"))
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      const agree = (action: string) => page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click()
      await signIn(page, service.url, "EVE")
      await page.goto(`${service.url}/ui/ranges/EVE`)
      await page.getByRole("link", { name: "m2", exact: true }).click()
      await page.getByLabel("Actions for m2").click()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await agree("Delete")
      await page.waitForURL("**/ui/ranges/EVE")
      await page.getByRole("link", { name: "m1", exact: true }).waitFor()
      expect(await page.getByRole("link", { name: "m2", exact: true }).count()).toBe(0)

      await page.getByRole("link", { name: "Plan", exact: true }).click()
      await page.getByText("create 1", { exact: false }).waitFor()
      await page.getByText("Only a part…").click()
      await page.getByLabel("Only these machines").fill("EVE-m1")
      await page.getByLabel("Only these machines").press("Enter")
      await page.getByText("Nothing to do", { exact: false }).waitFor()
      await page.getByLabel("Only these machines").fill("")
      await page.getByLabel("Only these machines").press("Enter")
      await page.getByText("create 1", { exact: false }).waitFor()
      await page.getByRole("link", { name: "Overview", exact: true }).click()

      await page.getByRole("button", { name: "Delete the machines…" }).click()
      await page.getByRole("dialog").getByText("2 machines will be deleted").waitFor()
      await agree("Delete the machines")
      await page.getByText("All VMs of range EVE deleted").waitFor()
      await page.getByText("There are no machines yet.").waitFor()

      await page.getByRole("button", { name: "Delete the range…" }).click()
      const field = page.getByLabel("Type EVE to delete it")
      await field.fill("UMA")
      await agree("Delete the range")
      expect(await field.evaluate((element) => element.matches(":invalid"))).toBe(true)
      await field.fill("EVE")
      await agree("Delete the range")
      await page.waitForURL("**/ui/ranges")
      await page.getByText("You have no range yet.").waitFor()
      expect(await eve.get("/ranges/accessible")).toEqual([])
      // except requests that were in flight when the range was deleted
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })
  },
)
