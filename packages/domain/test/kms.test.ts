import {
  activationError,
  activationIn,
  activationProblem,
  activationText,
  clientKeyFor,
  kmsServerProblem,
  productKeyIn,
  readKmsHost,
  readWindowsReport,
  type WindowsReport,
} from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const report: WindowsReport = {
  edition: "ServerDatacenter",
  build: 26_100,
  domainRole: 2,
  channel: "Windows(R) Operating System, VOLUME_KMSCLIENT channel",
  status: 1,
  graceMinutes: 60,
  kmsPort: 0,
  error: "",
}

describe("the address of a KMS host", () => {
  it("is none that machines of ranges must not reach, alone or in a network", () => {
    const closed = ["kms.example.org", "192.0.2.7", "203.0.114.0/24"]
    for (const host of ["kms.example.org", "192.0.2.7:2000", "203.0.114.9"])
      expect(readKmsHost(host, closed)).toEqual({ problem: expect.stringContaining("protected_addresses") })
    expect(readKmsHost("203.0.115.9", closed)).toEqual({ value: { host: "203.0.115.9", port: 1688 } })
  })

  it.each([
    ["kms.example.org", "kms.example.org", 1688],
    ["KMS.Example.org:2000", "kms.example.org", 2000],
    ["192.0.2.7:1", "192.0.2.7", 1],
    ["kms", "kms", 1688],
  ])("%s is read", (text, host, port) => expect(readKmsHost(text)).toEqual({ value: { host, port } }))

  it.each([
    "",
    " ",
    ":1688",
    "kms:0",
    "kms:65536",
    "kms:1e3",
    "kms:1688:1",
    "kms example",
    "kms;calc.exe",
    "kms'$(calc)",
    "kms`whoami`",
    'kms"',
    "{{ lookup('env', 'HOME') }}",
    "kms\nx",
    "-kms",
    "kms-",
    "kms..example",
    "kms.example.",
    "a".repeat(64),
    `${"a.".repeat(127)}toolong`,
    "127.0.0.1",
    "127.9.9.9:1688",
    "localhost",
    "x.LOCALHOST",
    "0.0.0.0",
    "169.254.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "256.1.1.1",
    "1.2.3",
    "2130706433",
    "[::1]:1688",
    "::1",
    "kms.exämple",
  ])("%j is refused", (text) => expect(readKmsHost(text)).toHaveProperty("problem"))

  it("is refused if machines must not reach it", () => expect(readKmsHost("10.9.9.9", ["10.9.9.9"])).toHaveProperty("problem"))

  it("holds nothing that a shell or a template could read, whatever it was read from", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readKmsHost(text)
        if ("value" in read) expect(read.value.host).toMatch(/^[a-z0-9.-]+$/u)
      }),
    )
  })
})

describe("a product key", () => {
  it("is read in any letter case and without the blanks around it", () =>
    expect(productKeyIn(" wx4nm-kywyw-qjjr4-xv3qb-6vm33\n")).toBe("WX4NM-KYWYW-QJJR4-XV3QB-6VM33"))
  it.each([
    "",
    "WX4NM",
    "WX4NM-KYWYW-QJJR4-XV3QB-6VM3",
    "WX4NM-KYWYW-QJJR4-XV3QB-6VM33-",
    "WX4NM KYWYW QJJR4 XV3QB 6VM33",
    "ſX4NM-KYWYW-QJJR4-XV3QB-6VM33",
  ])("%j is none", (text) => expect(productKeyIn(text)).toBeUndefined())
  it("of a client is known for volume editions and their versions alone", () => {
    expect(clientKeyFor("ServerStandard", 14_393)).toBe("WC2BQ-8NRM3-FDDYY-2BFGV-KHKQY")
    expect(clientKeyFor("ServerStandard", 26_100)).toBe("TVRH6-WHNXV-R9WG3-9XRFY-MY832")
    expect(clientKeyFor("Enterprise", 19_045)).toBe(clientKeyFor("Enterprise", 26_100))
    expect(clientKeyFor("EnterpriseS", 14_393)).not.toBe(clientKeyFor("EnterpriseS", 19_044))
    for (const edition of ["Core", "ServerStandardEval", "EnterpriseEval", "constructor", "__proto__", ""])
      expect(clientKeyFor(edition, 20_348)).toBeUndefined()
    // a version between two long-term ones has keys of its own
    expect(clientKeyFor("ServerStandard", 19_042)).toBeUndefined()
    expect(clientKeyFor("ServerTurbine", 17_763)).toBeUndefined()
    expect(clientKeyFor("Enterprise", 9600)).toBeUndefined()
  })
})

describe("what a machine says of its Windows", () => {
  it("is read as it is written", () => expect(readWindowsReport(`${JSON.stringify(report)}\r\n`)).toEqual(report))
  it.each(Object.keys(report))("is undefined if %s is missing or has another type", (name) => {
    const { [name as keyof WindowsReport]: value, ...rest } = report
    for (const wrong of [
      rest,
      ...[null, [], {}, true, -1, 1.5, 2 ** 40, "\u001B[31m", "{{x}}"].map((bad) => ({ ...rest, [name]: bad })),
    ])
      expect(readWindowsReport(JSON.stringify(wrong))).toBeUndefined()
    expect(value).toBeDefined()
  })
  it("never throws, and is undefined for anything else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(readWindowsReport(text)).toBeUndefined()
      }),
    )
  })

  it("gives the reason for not starting", () => {
    expect(activationProblem(report, false)).toBeUndefined()
    expect(activationProblem({ ...report, domainRole: 4 }, true)).toContain("domain controller")
    expect(activationProblem({ ...report, edition: "ServerDatacenterEval" }, true)).toContain("evaluation")
    expect(activationProblem({ ...report, edition: "Core" }, false)).toContain("no KMS client key")
    expect(activationProblem({ ...report, edition: "Core" }, true)).toBeUndefined()
    expect(kmsServerProblem(report)).toBeUndefined()
    expect(kmsServerProblem({ ...report, edition: "Enterprise" })).toContain("does not run Windows Server")
  })

  it("means activated only with status 1 and without an error", () => {
    const at = new Date("2026-11-23T10:00:00Z")
    fc.assert(
      fc.property(fc.nat(20), fc.constantFrom("", "0xC004F074"), (status, error) => {
        const { state } = activationIn({ ...report, status, error }, at)
        expect(state).toBe(status === 1 && error === "" ? "activated" : "not-activated")
      }),
    )
    expect(activationText(activationIn({ ...report, graceMinutes: 259_200 }, at))).toBe(
      "activated until 2027-05-22, as of 2026-11-23",
    )
    expect(activationText(activationIn({ ...report, graceMinutes: 0 }, at))).toBe("activated, as of 2026-11-23")
    expect(activationText(activationIn({ ...report, status: 5 }, at))).toMatch(/^not activated, as of 2026-11-23: /u)
    expect(activationError("0xC004F074")).toContain("did not answer")
    expect(activationError("0x12345678")).toBe("Windows says 0x12345678")
  })
})
