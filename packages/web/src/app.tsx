import { signal } from "@preact/signals"
import type { FunctionComponent } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { read } from "./api/client.ts"
import { mayBeSignedIn, signedOut } from "./api/session.ts"
import { onLive, startLive } from "./live/live.ts"
import { capabilities, me } from "./me.ts"
import type { CapabilitiesAnswer, UserAnswer } from "@rangewright/application/wire"
import { followNotices, readNotices } from "./notices.tsx"
import { Loading, Refused } from "./parts/parts.tsx"
import { Refusal } from "./api/client.ts"
import { matchPath } from "./links.ts"
import { pageOf, place } from "./router.ts"
import { scrollBack } from "./parts/scroll-back.ts"
import { Shell } from "./shell.tsx"
import { SignIn } from "./pages/sign-in.tsx"
import { t } from "./texts.ts"
import { Invite } from "./pages/invite.tsx"
import { ProviderReturn } from "./pages/single-sign-on.tsx"
import { Ranges } from "./pages/ranges.tsx"
import { NotFound } from "./pages/not-found.tsx"

export type Page = FunctionComponent<{ readonly values: Readonly<Record<string, string>> }>

interface Route {
  readonly pattern: string
  readonly load: () => Promise<Page>
}

/** Pages are loaded on first use, except the first one. */
const routes: readonly Route[] = [
  { pattern: "/", load: async () => Ranges },
  { pattern: "/ranges", load: async () => Ranges },
  { pattern: "/ranges/{id}", load: async () => (await import("./pages/range.tsx")).RangePage },
  { pattern: "/ranges/{id}/plan", load: async () => (await import("./pages/plan.tsx")).PlanPage },
  { pattern: "/ranges/{id}/config", load: async () => (await import("./pages/config.tsx")).ConfigPage },
  { pattern: "/ranges/{id}/snapshots", load: async () => (await import("./pages/snapshots.tsx")).SnapshotsPage },
  { pattern: "/ranges/{id}/testing", load: async () => (await import("./pages/testing.tsx")).TestingPage },
  { pattern: "/ranges/{id}/console/{vmid}", load: async () => (await import("./pages/console.tsx")).ConsolePage },
  { pattern: "/ranges/{id}/machines/{vmid}", load: async () => (await import("./pages/machine.tsx")).MachinePage },
  { pattern: "/ranges/{id}/access", load: async () => (await import("./pages/access.tsx")).AccessPage },
  { pattern: "/runs", load: async () => (await import("./pages/runs.tsx")).RunsPage },
  { pattern: "/runs/{id}", load: async () => (await import("./pages/run.tsx")).RunPage },
  { pattern: "/blueprints", load: async () => (await import("./pages/content/blueprints.tsx")).BlueprintsPage },
  { pattern: "/templates", load: async () => (await import("./pages/content/templates.tsx")).TemplatesPage },
  { pattern: "/templates/{name}", load: async () => (await import("./pages/content/template.tsx")).TemplatePage },
  { pattern: "/sources", load: async () => (await import("./pages/content/sources.tsx")).SourcesPage },
  { pattern: "/sources/{id}", load: async () => (await import("./pages/content/source.tsx")).SourcePage },
  { pattern: "/catalog", load: async () => (await import("./pages/content/catalog.tsx")).CatalogPage },
  { pattern: "/roles", load: async () => (await import("./pages/content/roles.tsx")).RolesPage },
  { pattern: "/classes", load: async () => (await import("./pages/classes/classes.tsx")).ClassesPage },
  { pattern: "/classes/{group}", load: async () => (await import("./pages/classes/class.tsx")).ClassPage },
  { pattern: "/admin", load: async () => (await import("./pages/admin/overview.tsx")).OverviewPage },
  { pattern: "/admin/overview", load: async () => (await import("./pages/admin/overview.tsx")).OverviewPage },
  { pattern: "/admin/nodes", load: async () => (await import("./pages/admin/nodes-page.tsx")).NodesPage },
  { pattern: "/admin/users", load: async () => (await import("./pages/admin/users.tsx")).UsersPage },
  { pattern: "/admin/users/{id}", load: async () => (await import("./pages/admin/user.tsx")).UserPage },
  { pattern: "/admin/groups", load: async () => (await import("./pages/admin/groups.tsx")).GroupsPage },
  { pattern: "/admin/quotas", load: async () => (await import("./pages/admin/quotas.tsx")).QuotasPage },
  { pattern: "/admin/doctor", load: async () => (await import("./pages/admin/doctor.tsx")).DoctorPage },
  { pattern: "/admin/audit", load: async () => (await import("./pages/admin/audit.tsx")).AuditPage },
  { pattern: "/admin/migration", load: async () => (await import("./pages/admin/migration.tsx")).MigrationPage },
  { pattern: "/me", load: async () => (await import("./pages/me.tsx")).MePage },
]

/** For people who are not signed in yet. */
const signInPages: Readonly<Record<string, FunctionComponent>> = {
  "/login": SignIn,
  "/login/return": ProviderReturn,
  "/invite": Invite,
}

interface Shown {
  readonly path: string
  readonly page: Page
  readonly values: Readonly<Record<string, string>>
}

const shown = signal<Shown | undefined>(undefined)
/** Why the page at this address could not be loaded. */
const broken = signal<Refusal | undefined>(undefined)
/** Why it is not known who is signed in. */
const unknown = signal<Refusal | undefined>(undefined)

const load = async (path: string): Promise<void> => {
  for (const { pattern, load: page } of routes) {
    const values = matchPath(pattern, path)
    if (values === undefined) continue
    try {
      const loaded = await page()
      if (place.peek().path === path) shown.value = { path, page: loaded, values }
      broken.value = undefined
    } catch {
      // a page's files are named by their content: those of an older version are gone
      broken.value = new Refusal(0, t.notLoaded, t.notLoadedHint)
    }
    return
  }
  shown.value = { path, page: NotFound, values: {} }
}

const isForAdministrators = (path: string): boolean => /^\/(?:admin(?:\/|$)|ranges\/[^/]+\/access$)/u.test(path)

/** Reads who is signed in, and what they may do. */
const readMe = async (): Promise<void> => {
  const [{ user }, can] = await Promise.all([
    read<{ readonly user: UserAnswer }>("/whoami"),
    read<CapabilitiesAnswer>("/capabilities"),
  ])
  // what has not changed is not rendered again
  if (JSON.stringify(can) !== JSON.stringify(capabilities.peek())) capabilities.value = can
  if (JSON.stringify(user) !== JSON.stringify(me.peek())) me.value = user
}

const identify = async (): Promise<void> => {
  if (!mayBeSignedIn()) return signedOut()
  try {
    await Promise.all([readMe(), readNotices()])
    followNotices()
    startLive()
    // rights may have changed, or the service: without an answer, what is known stays
    onLive(({ topic }) => {
      if (topic === "reset") readMe().catch(() => undefined)
    })
  } catch (error) {
    // after a 401 the sign-in page follows
    if (!(error instanceof Refusal)) unknown.value = new Refusal(0, t.notUnderstood, String(error))
    else if (error.status !== 401) unknown.value = error
  }
}

const Current = () => {
  const { path } = place.value
  const first = useRef(true)
  useEffect(() => void load(path), [path])
  const at = shown.value?.path === path ? pageOf(place.value) : undefined
  useEffect(() => {
    if (at === undefined) return
    const title = document.querySelector("main h1")
    // keyboard and screen reader users start at the title of a new page, unless they were faster
    if (!first.current && title instanceof HTMLElement && document.querySelector("main :focus") === null)
      title.focus({ preventScroll: true })
    if (!first.current) return scrollBack(place.peek().scrolled ?? 0)
    first.current = false
    return
  }, [at])
  const refusal = unknown.value ?? broken.value
  if (refusal !== undefined) return <Refused refusal={refusal} retry={() => location.reload()} />
  if (shown.value === undefined || me.value === undefined) return <Loading />
  // every operation would refuse them; a page that only shows refusals helps nobody
  if (isForAdministrators(shown.value.path) && !me.value.isAdmin) return <NotFound />
  const { page: Page, values } = shown.value
  return <Page key={shown.value.path} values={values} />
}

export const App = () => {
  const { path } = place.value
  const SignInPage = signInPages[path]
  const isSignIn = SignInPage !== undefined
  useEffect(() => {
    if (!isSignIn) void identify()
  }, [isSignIn])
  return SignInPage !== undefined ? (
    <SignInPage />
  ) : (
    <Shell>
      <Current />
    </Shell>
  )
}
