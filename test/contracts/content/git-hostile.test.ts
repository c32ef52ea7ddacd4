import { ContentFetcher, type FetchRequest } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { gitHttp, wantsPassword } from "./support/git-http.ts"
import { testRepository, type TestRepository } from "./support/repository.ts"
import { gitWorld, type GitWorld, textOf } from "./support/world.ts"

const fileUrl = (repository: TestRepository) => `file://${repository.folder}`
const faultOf = (world: GitWorld, repository: TestRepository, more?: Parameters<GitWorld["fault"]>[1]) =>
  world.fault({ type: "git", url: fileUrl(repository) }, more)

describe("URLs and refs", () => {
  test.each([
    ["an option", "--upload-pack=touch MARK", "url-form"],
    ["a short option", "--upload-pack=MARK", "url-option"],
    ["a transport that runs a program", "ext::MARK", "url-transport"],
    ["an option for ssh", "ssh://-oProxyCommand=MARK/x", "url-option"],
    ["an option for ssh in the short form", "-oProxyCommand=MARK@host:x", "url-option"],
    ["credentials", "http://me:s3cret@127.0.0.1/x", "url-credentials"],
    ["two lines", "http://127.0.0.1/x\nMARK", "url-form"],
    ["a transport that is not allowed", "git://127.0.0.1/x", "scheme"],
    ["an address that is not public", "http://10.0.0.1/x", "address"],
    ["such an address written otherwise", "http://0xa000001/x", "url-form"],
    ["the service of clouds for machines", "http://169.254.169.254/latest", "address"],
    ["a folder outside the allowed ones", "file:///etc", "folder"],
  ])("%s is refused before git runs", async (_, url, rule) => {
    const world = gitWorld()
    const mark = join(world.root, "mark")
    const fault = await world.fault({ type: "git", url: url.replace("MARK", mark) })
    expect(fault).toMatchObject({ kind: "invalid", facts: { reason: "refused", rule } })
    expect(fault.message).not.toContain("s3cret")
    expect(fault.message).not.toContain("\n")
    expect(existsSync(mark)).toBe(false)
    expect(existsSync(join(world.folder, "repositories", "x"))).toBe(false)
    world.expectClean()
  })

  test("file:// is refused unless it is allowed, and then limited to the allowed folders", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    const outside = testRepository(world.root, "outside", { a: "1" })
    expect((await world.fetch({ type: "git", url: fileUrl(repository) })).files).toHaveLength(1)
    expect((await faultOf(world, repository, { schemes: ["https", "ssh"] })).facts.rule).toBe("scheme")
    symlinkSync(outside.folder, join(world.served, "link.git"))
    for (const url of [fileUrl(outside), `file://${world.served}/link.git`, `file://${world.served}/../outside.git`])
      expect((await world.fault({ type: "git", url })).facts.rule).toBe("folder")
  })

  test.each(["--upload-pack=touch /tmp/x", "-x", "a..b", "main:refs/heads/x", "+main", "a b"])(
    "the ref %j is refused",
    async (ref) => {
      const world = gitWorld()
      const repository = testRepository(world.served, "labs", { a: "1" })
      const fault = await world.fault({ type: "git", url: fileUrl(repository), ref })
      expect(fault.facts).toMatchObject({ reason: "refused", rule: "ref" })
    },
  )
})

describe("hostile content of a repository", () => {
  const crafted: readonly (readonly [string, (repository: TestRepository) => readonly string[], string])[] = [
    [
      "a folder that climbs",
      (r) => [`100644 blob ${r.blob("x")}\tx`, `040000 tree ${r.git("rev-parse", "HEAD^{tree}")}\t..`],
      "damaged|attack",
    ],
    ["git's own folder", (r) => [`040000 tree ${r.git("rev-parse", "HEAD^{tree}")}\t.git`], "damaged|attack"],
    ["an absolute link", (r) => [`120000 blob ${r.blob("/etc/passwd")}\tl`], "absolute"],
    ["a link out of the tree", (r) => [`120000 blob ${r.blob("../../x")}\tl`], "out of the tree"],
    ["a link that is long", (r) => [`120000 blob ${r.blob("a/".repeat(5000))}\tl`], "too long"],
    ["twins in case", (r) => [`100644 blob ${r.blob("x")}\tREADME`, `100644 blob ${r.blob("x")}\treadme`], "only in case"],
    [
      "twins in Unicode form",
      (r) => [`100644 blob ${r.blob("x")}\t"caf\\303\\251"`, `100644 blob ${r.blob("x")}\t"cafe\\314\\201"`],
      "Unicode",
    ],
    ["a name of two lines", (r) => [`100644 blob ${r.blob("x")}\t"a\\nb"`], "control character"],
    ["a name that is no text", (r) => [`100644 blob ${r.blob("x")}\t"\\377"`], "not valid text"],
  ]
  test.each(crafted)("%s is refused and named, and nothing of it stays", async (_, lines, words) => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    repository.commitTree(lines(repository))
    const fault = await faultOf(world, repository)
    expect(["refused", "broken"]).toContain(fault.facts.reason)
    expect(fault.message).toMatch(new RegExp(words, "u"))
    world.expectClean()
  })

  test("a folder that is referenced so often that its list never ends is cut off", async () => {
    const world = gitWorld({ tree: { files: 1_000 } })
    const repository = testRepository(world.served, "labs", { a: "1" })
    for (let depth = 0; depth < 9; depth++) {
      const tree = repository.git("rev-parse", "HEAD^{tree}")
      repository.commitTree(Array.from({ length: 10 }, (_, n) => `040000 tree ${tree}\td${n}`))
      repository.git("reset", "-q", "--soft", "main")
    }
    const fault = await faultOf(world, repository)
    expect(fault).toMatchObject({ kind: "too-large", facts: { rule: "too-many-files" } })
  })

  test("100,000 files are refused before the first is written", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    const blob = repository.blob("x")
    repository.commitTree(Array.from({ length: 100_000 }, (_, n) => `100644 blob ${blob}\tf${n}`))
    const phases: string[] = []
    const request = { location: { type: "git", url: fileUrl(repository) }, holder: "test" } as const
    const progress = ({ phase }: { readonly phase: string }) => Effect.sync(() => phases.push(phase))
    const fault = await world.run(Effect.flip(ContentFetcher.use((fetcher) => fetcher.fetch({ ...request, progress }))))
    expect(fault).toMatchObject({ kind: "too-large", facts: { rule: "too-many-files" } })
    expect(phases).not.toContain("writing")
    world.expectClean()
  })

  test("limits apply to each file, all files, the transfer and the number of objects", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", {
      zeros: new Uint8Array(3_000_000),
      noise: randomBytes(3_000_000),
      ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, `${n}`])),
    })
    const ruleWith = async (more: Parameters<GitWorld["fault"]>[1]) => {
      const fault = await faultOf(world, repository, more)
      expect(fault.kind).toBe("too-large")
      return fault.facts.rule
    }
    expect(await ruleWith({ tree: { fileBytes: 2_000_000 } })).toBe("file-too-large")
    expect(await ruleWith({ tree: { totalBytes: 5_000_000 } })).toBe("tree-too-large")
    expect(await ruleWith({ tree: { files: 50 } })).toBe("too-many-files")
    world.expectClean()
    const other = gitWorld({ folders: [world.served] })
    for (const [limit, rule] of [
      [{ transferBytes: 1_000_000 }, "transfer"],
      [{ objects: 50 }, "objects"],
    ] as const) {
      const fault = await other.fault({ type: "git", url: fileUrl(repository) }, limit)
      expect(fault).toMatchObject({ kind: "too-large", facts: { rule } })
      // nor does the content received by then stay
      expect(readdirSync(join(other.folder, "repositories"))).toEqual([])
    }
    // an aborted fetch leaves nothing that breaks the next one
    expect((await other.fetch({ type: "git", url: fileUrl(repository) })).files).toHaveLength(62)
  })

  test("hooks, filters and LFS pointers are files like any other", async () => {
    const world = gitWorld()
    const mark = join(world.root, "mark")
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    const repository = testRepository(world.served, "labs", {
      ".lfsconfig": "[lfs]\n\turl = https://git.example.invalid\n",
      "big.bin": pointer,
      "hooks/post-checkout": { program: `#!/bin/sh\ntouch ${mark}\n` },
    })
    const hook = join(repository.folder, "hooks", "post-update")
    writeFileSync(hook, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    const snapshot = await world.fetch({ type: "git", url: fileUrl(repository) })
    expect(await world.run(textOf(snapshot, "big.bin"))).toBe(pointer)
    expect(existsSync(mark)).toBe(false)
  })
})

describe("submodules", () => {
  const withSubmodule = (world: GitWorld, url: string, commit: string, name = "labs") => {
    const repository = testRepository(world.served, name, {
      ".gitmodules": `[submodule "x"]\n\tpath = roles/x\n\turl = "${url}"\n`,
    })
    repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},roles/x`)
    repository.git("commit", "-q", "-m", "submodule")
    repository.push()
    return repository
  }

  test("their files are included, with URLs relative to the parent", async () => {
    const world = gitWorld()
    const role = testRepository(world.served, "role", { "tasks/main.yml": "[]\n", l: { link: "tasks/main.yml" } })
    const repository = withSubmodule(world, "../role.git", role.git("rev-parse", "HEAD"))
    const snapshot = await world.fetch({ type: "git", url: fileUrl(repository) })
    expect(snapshot.files.map(({ path }) => path)).toEqual([".gitmodules", "roles/x/l", "roles/x/tasks/main.yml"])
    expect(await world.run(textOf(snapshot, "roles/x/l"))).toBe("[]\n")
  })

  test.each([
    ["a folder of the host", "file:///etc", "folder"],
    ["a program", "ext::id", "url-transport"],
    ["an address that is not public", "http://10.0.0.1/x", "address"],
    ["credentials", "http://me:s3cret@127.0.0.1/x", "url-credentials"],
    ["the root of everything", "../../../../../../../../../../../etc", "url-form"],
  ])("one that points to %s is refused like the repository's own URL, and named", async (_, url, rule) => {
    const world = gitWorld()
    const repository = withSubmodule(world, url, "1".repeat(40))
    const fault = await faultOf(world, repository)
    expect(fault.facts).toMatchObject({ reason: "refused", rule })
    expect(fault.message).toContain("submodule roles/x")
    expect(fault.message).not.toContain("s3cret")
  })

  test("one that points to an option is refused by git's own check", async () => {
    const world = gitWorld()
    const fault = await faultOf(world, withSubmodule(world, "--upload-pack=x", "1".repeat(40)))
    expect(fault).toMatchObject({ kind: "invalid", facts: { reason: "broken" } })
    expect(fault.message).toContain("considers it an attack")
  })

  test("one without a URL is named; too many and too deep ones are refused", async () => {
    const world = gitWorld()
    const bare = testRepository(world.served, "bare", { a: "1" })
    bare.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},roles/x`)
    bare.git("commit", "-q", "-m", "submodule")
    bare.push()
    expect((await faultOf(world, bare)).facts).toMatchObject({ reason: "broken", rule: "submodule", item: ".gitmodules" })
    const role = testRepository(world.served, "role", { a: "1" })
    const inner = withSubmodule(world, "../role.git", role.git("rev-parse", "HEAD"), "inner")
    const outer = withSubmodule(world, "../inner.git", inner.git("rev-parse", "HEAD"), "outer")
    expect((await world.fetch({ type: "git", url: fileUrl(outer) })).files.map(({ path }) => path)).toContain("roles/x/roles/x/a")
    for (const submodules of [
      { count: 20, depth: 1 },
      { count: 1, depth: 9 },
    ])
      expect((await faultOf(world, outer, { submodules })).facts.rule).toBe("submodules")
  })

  test("credentials are only sent to the same server", async () => {
    const world = gitWorld()
    const other = await gitHttp(world.served, wantsPassword("s3cret"))
    const role = testRepository(world.served, "role", { a: "1" })
    withSubmodule(world, `http://127.0.0.1:${other.port}/role.git`, role.git("rev-parse", "HEAD"))
    const first = await gitHttp(world.served, wantsPassword("s3cret"))
    const access = { type: "token", token: Redacted.make("s3cret") } as const
    const fault = await world.fault({ type: "git", url: `http://127.0.0.1:${first.port}/labs.git`, access })
    expect(fault.facts.reason).toBe("unauthenticated")
    expect(fault.message).toContain("submodule")
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([undefined])
    await Promise.all([first.close(), other.close()])
  })
})

describe("hanging, interrupted and killed fetches", () => {
  test("a server that never responds ends with the deadline; git and its children are gone", async () => {
    // on a busy machine git may not have asked the server before a short deadline
    for (let isAsked = false, timeoutSeconds = 1; !isAsked; timeoutSeconds *= 3) {
      const world = gitWorld({ timeoutSeconds })
      const gone = Promise.withResolvers<void>()
      const server = await gitHttp(world.served, (request) => {
        isAsked = true
        request.socket.on("close", () => gone.resolve())
        return true
      })
      const fault = await world.fault({ type: "git", url: `http://127.0.0.1:${server.port}/x.git` })
      expect(fault).toMatchObject({ kind: "timeout", facts: { reason: "timeout" } })
      if (isAsked) await gone.promise
      world.expectClean()
      await server.close()
    }
  })

  test("an interrupted fetch stops its processes and leaves nothing behind", async () => {
    const world = gitWorld()
    const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const server = await gitHttp(world.served, (request) => {
      request.socket.on("close", () => gone.resolve())
      asked.resolve()
      return true
    })
    const location = { type: "git", url: `http://127.0.0.1:${server.port}/x.git` } as const
    await world.run(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(ContentFetcher.use((fetcher) => fetcher.fetch({ location, holder: "test" })))
        yield* Effect.promise(() => asked.promise)
        yield* Fiber.interrupt(fiber)
      }),
    )
    await gone.promise
    world.expectClean()
    await server.close()
  })

  test("remains of a killed git or service are removed, and the next fetch works", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    const location = { type: "git", url: fileUrl(repository) } as const
    await world.fetch(location)
    const cache = join(world.folder, "repositories", readdirSync(join(world.folder, "repositories"))[0] ?? "")
    for (const left of ["shallow.lock", "config.lock", "refs/held/x.lock", "objects/pack/tmp_pack_x"])
      writeFileSync(join(cache, left), "")
    mkdirSync(join(world.folder, "scratch", "work-x", "token-x"), { recursive: true })
    writeFileSync(join(world.folder, "scratch", "work-x", "token-x", "password"), "s3cret")
    const moved = repository.commit({ a: "2" })
    expect((await world.fetch(location)).id).toBe(moved)
    expect(existsSync(join(cache, "objects", "pack", "tmp_pack_x"))).toBe(false)
    world.expectClean()
  })

  test("a failed fetch leaves a cache as it was", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    await world.fetch({ type: "git", url: fileUrl(repository) })
    const files = () => new Set(readdirSync(join(world.folder, "repositories"), { recursive: true, encoding: "utf8" }))
    const before = files()
    repository.commit({ noise: randomBytes(3_000_000) })
    const fault = await world.fault({ type: "git", url: fileUrl(repository) }, { transferBytes: 1_000_000 })
    expect(fault.facts.rule).toBe("transfer")
    expect(files()).toEqual(before)
  })

  test("when all caches together are too large, the repositories not fetched for the longest time are removed", async () => {
    const world = gitWorld()
    const [first, second] = ["first", "second"].map((name) => testRepository(world.served, name, { noise: randomBytes(300_000) }))
    if (first === undefined || second === undefined) throw new Error("two repositories were made")
    await world.fetch({ type: "git", url: fileUrl(first) })
    const caches = () => readdirSync(join(world.folder, "repositories"))
    const [old = ""] = caches()
    utimesSync(join(world.folder, "repositories", old), new Date(), new Date(Date.now() - 60_000))
    await world.fetch({ type: "git", url: fileUrl(second) })
    const prune = ContentFetcher.use((fetcher) => fetcher.prune)
    await world.run(prune, { cacheBytes: 2_000_000 })
    expect(caches()).toHaveLength(2)
    await world.run(prune, { cacheBytes: 500_000 })
    expect(caches()).toHaveLength(1)
    expect(caches()).not.toContain(old)
  })

  test("the caches in use by a fetch stay, and do not keep others from being pruned", async () => {
    const world = gitWorld({ cacheBytes: 0 })
    const [first, second] = ["first", "second"].map((name) => testRepository(world.served, name, { name }))
    if (first === undefined || second === undefined) throw new Error("two repositories were made")
    const caches = () => readdirSync(join(world.folder, "repositories"))
    await world.run(
      ContentFetcher.use((port) =>
        Effect.gen(function* () {
          const fetched = (url: string, progress?: FetchRequest["progress"]) =>
            port.fetch({ location: { type: "git", url }, holder: "test", ...(progress === undefined ? {} : { progress }) })
          yield* fetched(fileUrl(first))
          const [old = ""] = caches()
          const [begun, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          const stands = () => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn))
          const going = yield* Effect.forkChild(fetched(fileUrl(second), stands))
          yield* Deferred.await(begun)
          yield* port.prune
          expect(caches()).toHaveLength(1)
          expect(caches()).not.toContain(old)
          yield* Deferred.succeed(goOn, undefined)
          yield* Fiber.join(going)
          yield* port.prune
          expect(caches()).toEqual([])
        }),
      ),
    )
  })

  test("a damaged cache is recreated", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    const location = { type: "git", url: fileUrl(repository) } as const
    await world.fetch(location)
    const [cache = ""] = readdirSync(join(world.folder, "repositories"))
    writeFileSync(join(world.folder, "repositories", cache, "config"), "[damaged")
    const moved = repository.commit({ a: "2" })
    expect((await world.fault(location)).facts.reason).toBe("broken")
    expect((await world.fetch(location)).id).toBe(moved)
  })

  test("a service killed in the middle of a fetch leaves no half snapshot, and the next one fetches", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`f${n}`, "x".repeat(n)])))
    // a git that stops in the middle of the files, and reports its process
    const [git, pid] = [join(world.root, "git"), join(world.root, "pid")]
    const stop = `git "$@" | head -c 9000; echo $$ > '${pid}.new'; mv '${pid}.new' '${pid}'; exec sleep 60`
    writeFileSync(git, `#!/bin/sh\ncase " $* " in *" cat-file "*) ${stop} ;; esac\nexec git "$@"\n`, { mode: 0o755 })
    const program = fileURLToPath(new URL("support/fetch-program.ts", import.meta.url))
    const url = `file://${join(world.served, "labs.git")}`
    const child = spawn(process.execPath, [program, world.folder, world.served, git, url], { stdio: "inherit" })
    const ended = once(child, "exit")
    await expect.poll(() => existsSync(pid), { timeout: 15_000 }).toBe(true)
    child.kill("SIGKILL")
    await ended
    process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL")
    expect(readdirSync(join(world.folder, "snapshots"))).toEqual([])
    expect(readdirSync(join(world.folder, "scratch"))).not.toEqual([])
    const snapshot = await world.fetch({ type: "git", url })
    expect(snapshot.files).toHaveLength(400)
    world.expectClean()
  })
})
