import * as fc from "fast-check"

/** Property tests draw the same values in every run, so that a commit passes or fails because of its changes. */
const seed = process.env["RANGEWRIGHT_PROPERTY_SEED"] ?? "20260101"
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) })
