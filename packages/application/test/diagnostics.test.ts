import { expect, it } from "vitest"
import { parseLscpu, parsePveperf } from "../src/host/pveperf.ts"

it("a node's figures are the measured ones, and the missing ones are named", () => {
  const printed = "CPU BOGOMIPS:      134400.00\nREGEX/SECOND:      4517245\nHD SIZE:           93.93 GB (/dev/sda)\n"
  expect(parsePveperf(printed)).toEqual({
    figures: {
      cpu_bogomips: 134400,
      regex_per_second: 4517245,
      hd_size: "93.93 GB (/dev/sda)",
      buffered_reads: "not measured",
      average_seek_time: "not measured",
      fsyncs_per_second: 0,
      dns_ext: "not measured",
    },
    missing: ["fsyncs_per_second"],
  })
  expect(parsePveperf("").missing).toEqual(["cpu_bogomips", "regex_per_second", "fsyncs_per_second"])
  expect(parseLscpu("")).toEqual({ model: "not measured", cores: undefined })
  expect(parseLscpu("CPU(S): 8\nModel name: Some Processor\n")).toEqual({ model: "Some Processor", cores: 8 })
})
